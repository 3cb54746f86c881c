"""CASSINI's testbed: the counts of the paper."""

from __future__ import annotations

from tests.unit.traces.topologies.paths import all_and_numbered
from traces.topologies.cassini_24 import Cassini24, cassini_24


def test_the_counts_are_the_papers() -> None:
    cluster = cassini_24()
    assert len(cluster.servers) == 24
    assert len(cluster.switches) == 13
    assert len(cluster.links) == 48
    assert {link.rate_bps for link in cluster.links} == {50e9}
    assert {cluster.graph.degree[server] for server in cluster.servers} == {1}


def test_it_is_oversubscribed_two_to_one_at_the_leaves_and_nowhere_else() -> None:
    graph = cassini_24().graph

    def down_and_up(switch: str, above: str) -> tuple[int, int]:
        up = sum(peer.startswith(above) for peer in graph[switch])
        return graph.degree[switch] - up, up

    assert {down_and_up(f"leaf{n}", "aggregation") for n in range(6)} == {(4, 2)}
    assert {down_and_up(f"aggregation{n}", "core") for n in range(4)} == {(3, 3)}


def test_every_equal_path_is_a_variant() -> None:
    cluster = cassini_24()
    for destination, count in (("server1", 1), ("server11", 2), ("server23", 12)):
        everyone, numbered = all_and_numbered(cluster, "server0", destination)
        assert sorted(numbered) == everyone
        assert len(numbered) == count


def test_it_has_a_rate_where_none_is_given() -> None:
    assert Cassini24().build() == cassini_24()
    assert Cassini24.model_validate({"rate": "25 Gbit/s"}).build() == cassini_24(25e9)
