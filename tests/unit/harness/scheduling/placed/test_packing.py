"""Who gets in, and where each rule puts whom."""

from __future__ import annotations

import pytest

from harness.scheduling.placed.packing import (
    Rule,
    admitted,
    best_fit,
    first_fit,
    free_gpus,
    pack,
    worst_fit,
)
from tests.unit.harness.scheduling.placed.builders import RATE_BPS, job, servers_of
from traces.topologies.single_switch import single_switch

LEAVES = (("a0", "a1", "a2", "a3"), ("b0", "b1", "b2"), ("c0", "c1", "c2", "c3", "c4"))
FREE = {server: 1 for leaf in LEAVES for server in leaf}


def test_who_does_not_fit_is_passed_over() -> None:
    jobs = [job("a", 3), job("b", 4), job("c", 2), job("d", 1)]
    assert [each.id for each in admitted(jobs, 6)] == ["a", "c", "d"]
    assert admitted(jobs, 0) == []


@pytest.mark.parametrize(("rule", "leaf"), [(best_fit, "b"), (worst_fit, "c"), (first_fit, "a")])
def test_a_job_that_fits_behind_one_leaf_stays_there(rule: Rule, leaf: str) -> None:
    taken = pack([job("j", 3)], FREE, LEAVES, rule)["j"]
    assert {server[0] for server in taken} == {leaf}
    assert taken.total() == 3


@pytest.mark.parametrize(
    ("rule", "shares"),
    [
        (best_fit, {"c": 5, "b": 1}),
        (worst_fit, {"c": 5, "a": 1}),
        (first_fit, {"a": 4, "b": 2}),
    ],
)
def test_a_job_that_no_leaf_takes_is_divided(rule: Rule, shares: dict[str, int]) -> None:
    taken = pack([job("j", 6)], FREE, LEAVES, rule)["j"]
    found = {leaf: sum(taken[at] for at in taken if at[0] == leaf) for leaf in "abc"}
    assert {leaf: count for leaf, count in found.items() if count} == shares


def test_servers_with_several_gpus_are_chosen_by_the_same_rule() -> None:
    leaf, free = (("s0", "s1", "s2"),), {"s0": 4, "s1": 2, "s2": 3}
    two = [job("j", 2)]
    assert pack(two, free, leaf, best_fit)["j"] == {"s1": 2}
    assert pack(two, free, leaf, worst_fit)["j"] == {"s0": 2}
    assert pack([job("j", 6)], free, leaf, best_fit)["j"] == {"s0": 4, "s1": 2}


def test_the_first_of_equal_places_is_taken() -> None:
    leaves = (("b0", "b1"), ("a0", "a1"))
    assert set(pack([job("j", 2)], FREE, leaves, best_fit)["j"]) == {"b0", "b1"}


def test_one_job_after_the_other() -> None:
    packing = pack([job("x", 3), job("y", 3)], FREE, LEAVES, best_fit)
    assert {server[0] for server in packing["x"]} == {"b"}
    assert {server[0] for server in packing["y"]} == {"a"}


def test_what_runs_is_not_free() -> None:
    servers = servers_of(single_switch(2, RATE_BPS), gpus=2)
    kept = {"a": ("server0", "server1"), "b": ("server1",)}
    assert free_gpus(servers, kept) == {"server0": 1, "server1": 0}


@pytest.mark.parametrize("server", ["server1", "elsewhere"])
def test_more_than_there_is_cannot_run(server: str) -> None:
    servers = servers_of(single_switch(2, RATE_BPS))
    with pytest.raises(ValueError, match=f"2 workers run on {server}"):
        free_gpus(servers, {"a": (server,), "b": (server,)})
