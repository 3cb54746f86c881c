"""Links, ports and the paths between servers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.cluster import Cluster, Link, Port, Sharing, dumbbell
from traces.cluster_checks import MAX_INTERFACES
from traces.errors import BadInputError
from traces.routing import MAX_VARIANTS


def names(ports: tuple[Port, ...]) -> list[str]:
    return [str(port) for port in ports]


def star(*links: Link, servers: tuple[str, ...] = ("a", "b"), **changes: Any) -> Cluster:
    """Two servers at the switch ``s``, where no other links are given."""
    return Cluster(servers, ("s",), links or (Link("a", "s", 1.0), Link("b", "s", 1.0)), **changes)


def rails(count: int) -> Cluster:
    """Two servers joined by ``count`` switches of their own."""
    switches = tuple(f"rail{index}" for index in range(count))
    links = tuple(Link(server, switch, 1.0) for server in ("a", "b") for switch in switches)
    return Cluster(("a", "b"), switches, links)


def shortest_paths(cluster: Cluster, source: str, destination: str) -> set[tuple[str, ...]]:
    """As NetworkX finds them where no other server forwards."""
    others = set(cluster.servers) - {source, destination}
    graph = cluster.graph.subgraph(set(cluster.nodes) - others)
    return {tuple(path) for path in nx.all_shortest_paths(graph, source, destination)}


def nodes_of(path: tuple[Port, ...]) -> tuple[str, ...]:
    return (path[0].node, *(port.peer for port in path))


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


def test_numbers_in_names_count_as_numbers() -> None:
    via = [nodes_of(path)[1] for path in rails(12).path_variants("a", "b")]
    assert via == [f"rail{index}" for index in range(12)]


def test_every_link_is_two_ports_with_its_rate() -> None:
    cluster = dumbbell(1, 1, 10.0, 4.0)
    assert len(cluster.ports) == len(set(cluster.ports)) == 2 * len(cluster.links)
    assert cluster.rate_bps(Port("switch-right", "switch-left")) == 4.0
    with pytest.raises(KeyError, match="left0->right0"):
        cluster.rate_bps(Port("left0", "right0"))


def test_a_link_may_have_its_own_sharing_and_buffer() -> None:
    cluster = star(Link("a", "s", 1.0, Sharing.WEIGHTED, 9000), Link("b", "s", 1.0))
    for port in (Port("a", "s"), Port("s", "a")):
        assert cluster.sharing_at(port) is Sharing.WEIGHTED
        assert cluster.link(port).buffer_bytes == 9000
    assert cluster.sharing_at(Port("s", "b")) is Sharing.FAIR
    assert cluster.link(Port("s", "b")).buffer_bytes is None


def test_the_common_sharing_is_that_of_every_port() -> None:
    links = (Link("a", "s", 1.0, Sharing.FIFO), Link("b", "s", 1.0, Sharing.FIFO))
    assert star(sharing=Sharing.FIFO).common_sharing((Sharing.FIFO,)) is Sharing.FIFO
    assert star(*links).common_sharing((Sharing.FIFO,)) is Sharing.FIFO
    one_of_its_own = star(links[0], Link("b", "s", 1.0), sharing=Sharing.FIFO)
    assert one_of_its_own.common_sharing(list(Sharing)) is Sharing.FIFO


@pytest.mark.parametrize(
    ("cluster", "problem"),
    [
        (star(sharing=Sharing.PRIORITY), "the sharing 'priority'"),
        (star(Link("a", "s", 1.0, Sharing.FIFO), Link("b", "s", 1.0)), "('fair', 'fifo')"),
    ],
)
def test_a_sharing_that_is_not_known_or_not_common_is_refused(
    cluster: Cluster, problem: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        cluster.common_sharing((Sharing.FAIR, Sharing.FIFO))
    assert problem in caught.value.problem
    assert caught.value.allowed.startswith("'fair' or 'fifo'")
    assert caught.value.key == "cluster.sharing"


def test_a_server_may_have_sixteen_links() -> None:
    assert rails(MAX_INTERFACES).num_variants("a", "b") == 16
    with pytest.raises(BadInputError, match="17 links") as caught:
        rails(MAX_INTERFACES + 1)
    assert caught.value.key == "node 'a'"


def test_servers_do_not_forward() -> None:
    """The way through m would be as short, and shorter than the one through the spine."""
    links = [Link("a", "s1", 1), Link("s1", "m", 1), Link("m", "s2", 1), Link("s2", "b", 1)]
    above = [Link("s1", "t1", 1), Link("t1", "t2", 1), Link("t2", "s2", 1)]
    cluster = Cluster(("a", "b", "m"), ("s1", "s2", "t1", "t2"), (*links, *above))
    assert nodes_of(cluster.path("a", "b")) == ("a", "s1", "t1", "t2", "s2", "b")
    assert cluster.num_variants("a", "b") == 1
    assert nodes_of(cluster.path("m", "b")) == ("m", "s2", "b")


def test_servers_may_be_joined_without_a_switch() -> None:
    cluster = Cluster(("a", "b"), (), (Link("a", "b", 1.0),))
    assert names(cluster.path("a", "b")) == ["a->b"]


BAD_CLUSTERS: list[tuple[Callable[[], Cluster], str, str]] = [
    (lambda: star(servers=("a", "b", "a")), "node 'a'", "stands 2 times"),
    (lambda: star(servers=("a", "b", "s")), "node 's'", "stands 2 times"),
    (lambda: star(servers=("a", "b", "Rack 1")), "node 'Rack 1'", "namespace's name"),
    (lambda: star(servers=("a", "b", "x" * 42)), f"node '{'x' * 42}'", "namespace's name"),
    (lambda: star(servers=("a", "b", "")), "node ''", "namespace's name"),
    (lambda: star(servers=("a", "b", "c")), "node 'c'", "not connected"),
    (lambda: star(Link("a", "s", 1), Link("b", "s", 0)), "link 'b' to 's'", "0 bit/s"),
    (lambda: star(Link("a", "s", 1), Link("b", "s", -2)), "link 'b' to 's'", "-2 bit/s"),
    (lambda: star(Link("a", "s", 1), Link("b", "s", float("nan"))), "link 'b' to 's'", "nan"),
    (lambda: star(Link("a", "s", 1), Link("b", "s", float("inf"))), "link 'b' to 's'", "inf"),
    (lambda: star(Link("a", "s", 1), Link("b", "t", 1)), "link 'b' to 't'", "no node 't'"),
    (lambda: star(Link("a", "s", 1), Link("a", "a", 1)), "link 'a' to 'a'", "to itself"),
    (lambda: star(Link("a", "s", 1), Link("s", "a", 1)), "link 's' to 'a'", "a link already"),
    (
        lambda: star(Link("a", "s", 1), Link("b", "s", 1, buffer_bytes=0)),
        "link 'b' to 's'",
        "0 bytes",
    ),
    (
        lambda: Cluster(("a", "b"), ("s", "t"), (Link("a", "s", 1), Link("b", "t", 1))),
        "node 'b'",
        "no path from 's' to 'b'",
    ),
    (
        lambda: Cluster(("a", "b", "c"), (), (Link("a", "b", 1), Link("b", "c", 1))),
        "node 'c'",
        "no path from 'a' to 'c'",
    ),
]


@pytest.mark.parametrize(
    ("build", "key", "problem"), BAD_CLUSTERS, ids=[bad[2] for bad in BAD_CLUSTERS]
)
def test_an_unsound_cluster_is_refused_with_the_node_or_link(
    build: Callable[[], Cluster], key: str, problem: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        build()
    assert caught.value.key == key
    assert problem in caught.value.problem
    assert caught.value.allowed


def test_there_is_no_next_hop_at_the_server_itself() -> None:
    with pytest.raises(KeyError, match="a to a"):
        star().next_hop("a", "a")


@pytest.mark.parametrize("variant", [-1, MAX_VARIANTS])
def test_a_variant_that_cannot_be_is_refused(variant: int) -> None:
    with pytest.raises(ValueError, match=f"variant {variant} is not one of 0 to 63"):
        star().path("a", "b", variant)


def test_a_pair_with_fewer_paths_repeats_them() -> None:
    cluster = rails(3)
    assert cluster.path("a", "b", 3) == cluster.path("a", "b", 0)


def test_where_choices_have_different_numbers_of_paths_all_are_found() -> None:
    """One way through p, three through q."""
    links = [Link("a", "s", 1), Link("s", "p", 1), Link("s", "q", 1), Link("p", "u1", 1)]
    links += [Link("q", f"u{n}", 1) for n in (2, 3, 4)]
    links += [Link(f"u{n}", "t", 1) for n in (1, 2, 3, 4)]
    cluster = Cluster(
        ("a", "b"), ("s", "p", "q", "t", "u1", "u2", "u3", "u4"), (*links, Link("t", "b", 1))
    )
    found = cluster.path_variants("a", "b")
    assert [nodes_of(path)[3] for path in found] == ["u1", "u3", "u4", "u2"]


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """A connected graph of switches, and servers with one to three links to them."""
    count = draw(st.integers(1, 9))
    switches = [f"s{index}" for index in range(count)]
    joined = {frozenset((index, draw(st.integers(0, index - 1)))) for index in range(1, count)}
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    joined |= {frozenset(pair) for pair in draw(st.lists(pairs, max_size=20)) if len({*pair}) == 2}
    links = [Link(*(switches[end] for end in sorted(pair)), 1.0) for pair in joined]
    servers = [f"h{index}" for index in range(draw(st.integers(2, 5)))]
    for server in servers:
        at = draw(st.sets(st.sampled_from(switches), min_size=1, max_size=3))
        links += [Link(server, switch, 1.0) for switch in sorted(at)]
    return Cluster(tuple(servers), tuple(switches), tuple(links))


@given(clusters())
def test_all_variants_are_different_shortest_paths(cluster: Cluster) -> None:
    for source, destination in itertools.permutations(cluster.servers, 2):
        expected = shortest_paths(cluster, source, destination)
        found = [nodes_of(path) for path in cluster.path_variants(source, destination)]
        assert len(found) == len(set(found)) == cluster.num_variants(source, destination)
        assert set(found) <= expected
        assert 1 <= len(found) <= min(len(expected), MAX_VARIANTS)
        if len(expected) <= 2:
            assert set(found) == expected


@given(clusters(), st.integers(0, MAX_VARIANTS - 1))
def test_the_next_hop_depends_on_node_destination_and_variant_only(
    cluster: Cluster, variant: int
) -> None:
    table = cluster.next_hops(variant)
    for place, node in enumerate(cluster.nodes):
        for column, server in enumerate(cluster.servers):
            if node == server:
                assert table[place, column] == -1
                continue
            path = cluster.path(node, server, variant)
            assert cluster.nodes[table[place, column]] == path[0].peer
            for port in path:
                assert cluster.next_hop(port.node, server, variant) == port.peer


@given(clusters(), st.randoms(use_true_random=False))
def test_paths_do_not_depend_on_the_order_of_nodes_and_links(cluster: Cluster, random: Any) -> None:
    def shuffled(items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(random.sample(items, len(items)))

    links = tuple(Link(*random.sample((link.a, link.b), 2), 1.0) for link in cluster.links)
    other = Cluster(shuffled(cluster.servers), shuffled(cluster.switches), shuffled(links))
    for source, destination in itertools.permutations(cluster.servers, 2):
        found = cluster.path_variants(source, destination)
        assert other.path_variants(source, destination) == found
