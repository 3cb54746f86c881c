"""Two groups of servers and the link between them."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from traces.cluster import Port, Sharing
from traces.topologies.dumbbell import dumbbell


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


@given(st.integers(1, 5), st.integers(1, 5))
def test_paths_are_connected_and_the_next_hop_follows_them(left: int, right: int) -> None:
    cluster = dumbbell(left, right, 1.0)
    for source, destination in itertools.permutations(cluster.servers, 2):
        path = cluster.path(source, destination)
        assert path[0].node == source
        assert path[-1].peer == destination
        assert all(a.peer == b.node for a, b in itertools.pairwise(path))
        assert all(port in cluster.ports for port in path)
        for port in path:
            assert cluster.next_hop(port.node, destination) == port.peer
        same_side = source[:4] == destination[:4]
        assert len(path) == (2 if same_side else 3)
        assert cluster.num_variants(source, destination) == 1
