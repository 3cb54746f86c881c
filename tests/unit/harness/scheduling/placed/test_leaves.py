"""Leaves, the order of ranks, and what the links cannot tell apart."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.placed.leaves import leaves_of
from harness.scheduling.placed.policy import Placement
from tests.unit.harness.scheduling.placed.builders import RATE_BPS
from traces.cluster import Cluster, Link
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.leaf_spine import leaf_spine
from traces.topologies.single_switch import single_switch

TWO_LEAVES = leaf_spine(6, 2, 2, RATE_BPS)
LEAF_A, LEAF_B = ("server0", "server1", "server2"), ("server3", "server4", "server5")


def test_leaves_are_read_off_the_links() -> None:
    assert leaves_of(TWO_LEAVES).leaves == (LEAF_A, LEAF_B)
    assert leaves_of(cassini_24()).leaves[5] == ("server20", "server21", "server22", "server23")
    assert leaves_of(single_switch(3, RATE_BPS)).leaves == (("server0", "server1", "server2"),)


def test_a_leaf_may_be_scattered_in_the_list_and_a_server_have_two() -> None:
    links = [("a", "x"), ("b", "y"), ("c", "x"), ("d", "x"), ("d", "y"), ("x", "y")]
    cluster = Cluster(
        ("a", "b", "c", "d"), ("x", "y"), tuple(Link(*link, RATE_BPS) for link in links)
    )
    assert leaves_of(cluster).leaves == (("a", "c"), ("b",), ("d",))


def test_ranks_behind_a_leaf_are_neighbours() -> None:
    leaves = leaves_of(TWO_LEAVES)
    workers = {"server4": 1, "server1": 1, "server5": 2, "server0": 1}
    assert leaves.by_rank(workers) == ("server0", "server1", "server5", "server5", "server4")


def test_a_server_with_another_rate_is_not_alike() -> None:
    links = tuple(Link(f"h{index}", "s", rate) for index, rate in enumerate([1e9, 1e9, 2e9]))
    leaves = leaves_of(Cluster(("h0", "h1", "h2"), ("s",), links))
    assert leaves.leaves == (("h0", "h1", "h2"),)
    at_first = leaves.link_form({"a": ("h0",)})
    assert leaves.link_form({"a": ("h1",)}) == at_first
    assert leaves.link_form({"a": ("h2",)}) != at_first


def test_whom_a_job_has_beside_it_on_a_server_matters() -> None:
    leaves = leaves_of(TWO_LEAVES)
    beside_a = {"a": ("server0",), "b": ("server1",), "c": ("server0",)}
    beside_b = {"a": ("server0",), "b": ("server1",), "c": ("server1",)}
    mirrored = {"a": ("server2",), "b": ("server0",), "c": ("server0",)}
    assert leaves.link_form(beside_a) != leaves.link_form(beside_b)
    assert leaves.link_form(beside_b) == leaves.link_form(mirrored)


def test_company_is_who_meets_whichever_the_leaf() -> None:
    leaves = leaves_of(TWO_LEAVES)
    together = {"a": ("server0", "server1"), "b": ("server2",)}
    elsewhere = {"a": ("server5", "server3"), "b": ("server4",)}
    apart = {"a": ("server0", "server1"), "b": ("server3",)}
    on_one_server = {"a": ("server0", "server1"), "b": ("server1",)}
    companies = [leaves.company(each) for each in (together, elsewhere, apart, on_one_server)]
    assert companies[0] == companies[1]
    assert len({*companies}) == 3


PLACEMENTS = st.dictionaries(
    st.sampled_from("abc"),
    st.lists(st.sampled_from(TWO_LEAVES.servers), min_size=1, max_size=3).map(tuple),
    max_size=3,
)


@given(PLACEMENTS, PLACEMENTS)
def test_equal_forms_are_those_that_become_each_other(one: Placement, two: Placement) -> None:
    """Against all ways to let servers behind their leaves change places."""
    leaves = leaves_of(TWO_LEAVES)
    behind = itertools.product(itertools.permutations(LEAF_A), itertools.permutations(LEAF_B))
    renamings = [dict(zip((*LEAF_A, *LEAF_B), (*a, *b), strict=True)) for a, b in behind]
    become = [
        {name: tuple(renaming[server] for server in servers) for name, servers in one.items()}
        for renaming in renamings
    ]
    assert (leaves.link_form(one) == leaves.link_form(two)) == (two in become)
    assert {leaves.link_form(placement) for placement in become} == {leaves.link_form(one)}


@given(PLACEMENTS, st.permutations(LEAF_A), st.permutations(LEAF_B))
def test_what_changes_places_leaves_the_flows_on_links_as_they_were(
    placement: Placement, a: list[str], b: list[str]
) -> None:
    renaming = dict(zip((*LEAF_A, *LEAF_B), (*a, *b), strict=True))
    renamed = {job: tuple(renaming[at] for at in servers) for job, servers in placement.items()}
    between_switches, at_servers = _ring_flows(placement)
    assert _ring_flows(renamed) == (between_switches, at_servers)


def _ring_flows(placement: Placement) -> tuple[dict[str, Counter[str]], list[list[str]]]:
    """Jobs by flow at each port between switches, and at the ports of servers, whichever."""
    flows: dict[tuple[str, str], Counter[str]] = {}
    for name, servers in placement.items():
        for source, destination in zip(servers, (*servers[1:], servers[0]), strict=True):
            if source == destination:
                continue
            for port in TWO_LEAVES.path(source, destination):
                flows.setdefault((port.node, port.peer), Counter())[name] += 1
    ends = set(TWO_LEAVES.servers)
    inner = {f"{at}->{to}": jobs for (at, to), jobs in flows.items() if not ends & {at, to}}
    outer = [sorted(jobs.elements()) for (at, to), jobs in flows.items() if ends & {at, to}]
    return inner, sorted(outer)
