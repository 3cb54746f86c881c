"""The fat-tree: its counts, and all paths through its cores."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.traces.topologies.paths import all_and_numbered
from traces.errors import BadInputError
from traces.topologies.fat_tree import FatTree, fat_tree

EVEN = st.sampled_from([2, 4, 6, 8])


@given(EVEN)
def test_its_counts_are_the_papers(k: int) -> None:
    cluster = fat_tree(k, 1e9)
    assert len(cluster.servers) == k**3 // 4
    assert len(cluster.switches) == 5 * k**2 // 4
    assert len(cluster.links) == 3 * k**3 // 4
    assert {cluster.graph.degree[switch] for switch in cluster.switches} == {k}
    assert {link.rate_bps for link in cluster.links} == {1e9}


@given(EVEN, st.data())
def test_the_variants_are_all_shortest_paths_once_each(k: int, data: st.DataObject) -> None:
    cluster = fat_tree(k, 1e9)
    servers = st.integers(0, len(cluster.servers) - 1)
    source, destination = data.draw(servers), data.draw(servers)
    if source == destination:
        return
    everyone, numbered = all_and_numbered(cluster, f"server{source}", f"server{destination}")
    assert sorted(numbered) == everyone
    half = k // 2
    if source // half**2 != destination // half**2:
        assert len({path[3] for path in numbered}) == half**2  # a core each
        # The first of them share no link between the switches that the pair has for itself.
        hops = [hop for path in numbered[:half] for hop in itertools.pairwise(path[1:-1])]
        assert len(hops) == len(set(hops))


def test_a_thousand_servers_have_all_their_next_hops_and_variants() -> None:
    cluster = fat_tree(16, 1e9)
    table = cluster.next_hops()
    assert table.shape == (1344, 1024)
    assert np.count_nonzero(table == -1) == 1024
    assert cluster.nodes[table[0, 1023]] == "edge0-0"
    numbered = cluster.path_variants("server0", "server1023")
    assert len(set(numbered)) == 64


@pytest.mark.parametrize("k", [0, 1, 5])
def test_an_odd_number_of_ports_is_refused(k: int) -> None:
    with pytest.raises(BadInputError, match=f"{k} ports") as caught:
        fat_tree(k, 1e9)
    assert caught.value.key == "k"


def test_the_parameters_build_it() -> None:
    assert len(FatTree.model_validate({"rate": "1 Gbit/s"}).build().servers) == 16
