"""The dumbbell and the paths through it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.cluster import Cluster, Link, Port, Sharing, dumbbell


def names(ports: tuple[Port, ...]) -> list[str]:
    return [str(port) for port in ports]


def test_a_dumbbell_has_one_link_in_the_middle() -> None:
    cluster = dumbbell(2, 1, 10.0, 4.0, Sharing.FIFO)
    assert cluster.servers == ("left0", "left1", "right0")
    assert cluster.switches == ("switch-left", "switch-right")
    assert [(link.a, link.b, link.rate_bps) for link in cluster.links] == [
        ("left0", "switch-left", 10.0),
        ("left1", "switch-left", 10.0),
        ("switch-left", "switch-right", 4.0),
        ("switch-right", "right0", 10.0),
    ]
    assert cluster.sharing is Sharing.FIFO


def test_the_middle_is_as_fast_as_the_rest_where_nothing_else_is_said() -> None:
    assert dumbbell(1, 1, 10.0).rate_bps(Port("switch-left", "switch-right")) == 10.0


def test_a_path_goes_out_of_every_port_between() -> None:
    cluster = dumbbell(2, 2, 1.0)
    across = ["left0->switch-left", "switch-left->switch-right", "switch-right->right1"]
    assert names(cluster.path("left0", "right1")) == across
    assert names(cluster.path("left0", "left1")) == ["left0->switch-left", "switch-left->left1"]
    assert cluster.path("left0", "left0") == ()


def test_among_equal_paths_the_first_by_name_is_taken() -> None:
    links = (Link("a", "s2", 1), Link("a", "s1", 1), Link("s2", "b", 1), Link("s1", "b", 1))
    cluster = Cluster(("a", "b"), ("s2", "s1"), links)
    assert names(cluster.path("a", "b")) == ["a->s1", "s1->b"]


def test_every_link_is_two_ports_with_its_rate() -> None:
    cluster = dumbbell(1, 1, 10.0, 4.0)
    assert len(cluster.ports) == len(set(cluster.ports)) == 2 * len(cluster.links)
    assert cluster.rate_bps(Port("switch-right", "switch-left")) == 4.0
    with pytest.raises(KeyError, match="left0->right0"):
        cluster.rate_bps(Port("left0", "right0"))


@given(st.integers(1, 5), st.integers(1, 5))
def test_paths_are_connected_and_the_next_hop_follows_them(left: int, right: int) -> None:
    cluster = dumbbell(left, right, 1.0)
    pairs = list(itertools.permutations(cluster.servers, 2))
    for source, destination in pairs:
        path = cluster.path(source, destination)
        assert path[0].node == source
        assert path[-1].peer == destination
        assert all(a.peer == b.node for a, b in itertools.pairwise(path))
        assert all(port in cluster.ports for port in path)
        for port in path:
            assert cluster.next_hop(port.node, destination) == port.peer
        same_side = source[:4] == destination[:4]
        assert len(path) == (2 if same_side else 3)
