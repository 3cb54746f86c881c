"""Leaves, spines, and the rate between them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.traces.topologies.paths import all_and_numbered
from traces.cluster import Port, Sharing
from traces.errors import BadInputError
from traces.topologies.leaf_spine import LeafSpine, leaf_spine

GBIT = 1e9


@given(st.integers(1, 4), st.integers(2, 6), st.integers(1, 20), st.floats(0.5, 8))
def test_its_counts_and_its_oversubscription(
    per_leaf: int, leaves: int, spines: int, oversubscription: float
) -> None:
    servers = per_leaf * leaves
    cluster = leaf_spine(servers, leaves, spines, GBIT, oversubscription)
    assert (len(cluster.servers), len(cluster.switches)) == (servers, leaves + spines)
    assert len(cluster.links) == servers + leaves * spines
    for leaf in (f"leaf{index}" for index in range(leaves)):
        down, up = (
            sum(link.rate_bps for link in cluster.links if getattr(link, end) == leaf)
            for end in ("b", "a")
        )
        assert down == per_leaf * GBIT
        assert down / up == pytest.approx(oversubscription)


@given(st.integers(1, 3), st.integers(2, 4), st.integers(1, 20))
def test_variant_i_goes_through_spine_i(per_leaf: int, leaves: int, spines: int) -> None:
    cluster = leaf_spine(per_leaf * leaves, leaves, spines, GBIT)
    everyone, numbered = all_and_numbered(cluster, "server0", cluster.servers[-1])
    assert sorted(numbered) == everyone
    assert [path[2] for path in numbered] == [f"spine{index}" for index in range(spines)]


def test_behind_one_leaf_there_is_one_path() -> None:
    assert leaf_spine(4, 2, 3, GBIT).num_variants("server0", "server1") == 1


def test_servers_that_cannot_be_divided_are_refused() -> None:
    with pytest.raises(BadInputError, match="5 servers") as caught:
        leaf_spine(5, 2, 2, GBIT)
    assert (caught.value.key, caught.value.allowed) == ("servers", "a multiple of 2")


def test_the_parameters_build_it() -> None:
    given = {"rate": "50 Gbit/s", "servers": 24, "leaves": 12, "spines": 1, "oversubscription": 2}
    cluster = LeafSpine.model_validate({**given, "sharing": "fifo"}).build()
    assert (len(cluster.servers), len(cluster.switches), len(cluster.links)) == (24, 13, 36)
    assert cluster.rate_bps(Port("leaf3", "spine0")) == 50e9
    assert cluster.sharing is Sharing.FIFO
