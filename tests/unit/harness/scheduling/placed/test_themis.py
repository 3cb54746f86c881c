"""Themis: who gets in, by hand-computed rho, and the placements that it holds equal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.placed.leaves import leaves_of
from harness.scheduling.placed.policy import GpuServers, Placement, WaitingJob
from harness.scheduling.placed.themis import Themis
from tests.unit.harness.scheduling.placed.builders import (
    RATE_BPS,
    SEED,
    job,
    servers_and_jobs,
    servers_of,
)
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.dumbbell import dumbbell
from traces.topologies.leaf_spine import leaf_spine
from traces.topologies.single_switch import single_switch

FOUR = servers_of(single_switch(4, RATE_BPS))
TESTBED = servers_of(cassini_24())


def decide(
    servers: GpuServers, jobs: list[WaitingJob], now_s: float = 100.0, most: int = 1
) -> list[Placement]:
    return Themis(servers, SEED).placements(jobs, now_s, most)


def chosen(servers: GpuServers, jobs: list[WaitingJob], now_s: float = 100.0) -> Placement:
    (placement,) = decide(servers, jobs, now_s)
    return placement


def test_who_fares_worst_comes_first() -> None:
    """Three jobs on 4 GPUs: (100 + 50) / (100 x 1.5) = 1, (40 + 100) / (100 x 1.5) = 0.93 and
    (10 + 20) / (20 x 3) = 0.5."""
    a = job("a", 2, submit_s=0, left=50, done=50)
    b = job("b", 2, submit_s=60, left=100)
    c = job("c", 4, submit_s=90, left=20)
    assert set(chosen(FOUR, [a, b, c])) == {"a", "b"}


def test_the_order_of_submission_is_not_that_of_fairness() -> None:
    """(100 + 900) / (900 x 2) = 0.56 and (50 + 10) / (10 x 2) = 3."""
    long, short = job("long", 4, submit_s=0, left=900), job("short", 4, submit_s=50, left=10)
    assert set(chosen(FOUR, [long, short])) == {"short"}


def test_equal_ones_come_in_order_of_submission() -> None:
    jobs = [job(name, 4, submit_s=100) for name in ("b", "a")]
    assert set(chosen(FOUR, jobs)) == {"b"}


def test_small_jobs_fill_what_is_left() -> None:
    """rho: (100 + 10) / (20 x 3) = 1.83, (60 + 30) / (30 x 2) = 1.5, and twice 1. The second does
    not fit beside the first; the third does, and then nobody else.
    """
    jobs = [
        job("first", 3, submit_s=0, left=10, done=10),
        job("second", 2, submit_s=40, left=30),
        job("third", 1, submit_s=100, left=50),
        job("fourth", 1, submit_s=100, left=50),
    ]
    assert set(chosen(FOUR, jobs)) == {"first", "third"}


def test_who_is_not_let_in_again_is_preempted() -> None:
    """rho: (20 + 30) / (50 x 2) = 0.5 of the job that runs; (50 + 50) / (50 x 2) = 1."""
    runs = job("runs", 4, submit_s=80, left=30, done=20, servers=FOUR.cluster.servers)
    waits = job("waits", 4, submit_s=50, left=50)
    assert set(chosen(FOUR, [waits, runs])) == {"waits"}


def test_who_is_let_in_again_keeps_its_servers_and_their_ranks() -> None:
    held = ("server9", "server0", "server22")
    jobs = [job("runs", 3, servers=held), job("new", 6)]
    for placement in decide(TESTBED, jobs, most=10):
        assert placement["runs"] == held
        assert not {*placement["new"]} & {*held}


def test_contention_is_remembered_from_the_calls_before() -> None:
    """The old job was one of two for 100 s and one of four for 10 s, 2.18 on average: its rho is
    (110 + 20) / (80 x 2.18) = 0.74, before the late one's (5 + 5) / (5 x 4) = 0.5. Had it been one
    of four all the time, it would stand behind it, at 130 / (80 x 4) = 0.41.
    """
    old, other = job("old", 4, left=20, done=60), job("other", 4, left=1e6)
    late = [job("late", 4, submit_s=105, left=5), job("later", 4, submit_s=105, left=60)]
    assert set(chosen(FOUR, [old, other, *late], now_s=110)) == {"late"}
    themis = Themis(FOUR, SEED)
    themis.placements([old, other], 100.0, 1)
    (placement,) = themis.placements([old, other, *late], 110.0, 1)
    assert set(placement) == {"old"}


def test_a_job_larger_than_the_cluster_never_gets_in_and_hinders_nobody() -> None:
    huge = job("huge", 25, submit_s=0, left=1)
    others = [job("a", 12, submit_s=50), job("b", 12, submit_s=60)]
    assert set(chosen(TESTBED, [huge, *others])) == {"a", "b"}
    assert chosen(TESTBED, [huge]) == {}
    assert decide(TESTBED, [], most=10) == [{}]


def test_a_job_larger_than_the_cluster_is_no_contention() -> None:
    """(60 + 40) / (40 x 2) = 1.25 and 100 / 100 = 1; among three it would be 0.83 of the first."""
    jobs = [job("huge", 5), job("wide", 4, submit_s=40, left=40), job("small", 1, submit_s=100)]
    assert set(chosen(FOUR, jobs)) == {"wide"}


def test_its_own_choice_is_behind_as_few_leaves_as_possible() -> None:
    """Half of leaf 0 is held. Six workers, who fare worse, fill one leaf and the other half."""
    held = ("server0", "server1")
    jobs = [job("runs", 2, servers=held), job("six", 6), job("two", 2, submit_s=50)]
    placement = chosen(TESTBED, jobs)
    assert placement["six"] == tuple(f"server{index}" for index in range(2, 8))
    assert placement["two"] == ("server8", "server9")


def test_the_other_placements_are_of_the_same_jobs_and_differ_on_the_links() -> None:
    jobs = [job(f"job{index}", 1 + index % 7, submit_s=10 * index) for index in range(9)]
    placements = decide(TESTBED, jobs, most=10)
    assert len(placements) == 10
    assert placements[0] == chosen(TESTBED, jobs)
    assert {frozenset(placement) for placement in placements} == {frozenset(placements[0])}
    leaves = leaves_of(TESTBED.cluster)
    assert len({leaves.link_form(placement) for placement in placements}) == 10


def test_two_jobs_on_two_sides_have_two_placements() -> None:
    """Behind their switches servers are alike, and neither job is divided without need."""
    servers = servers_of(dumbbell(2, 2, RATE_BPS))
    left, right = ("left0", "left1"), ("right0", "right1")
    placements = decide(servers, [job("a", 2), job("b", 2)], most=10)
    assert placements == [{"a": left, "b": right}, {"a": right, "b": left}]


def test_other_company_comes_before_other_leaves() -> None:
    """Whether b and c meet is all that is open behind four leaves that are alike."""
    servers = servers_of(leaf_spine(16, 4, 2, RATE_BPS))
    jobs = [job("a", 4), job("b", 2, submit_s=50), job("c", 2, submit_s=50)]
    leaves = leaves_of(servers.cluster)
    placements = decide(servers, jobs, most=10)
    companies = [leaves.company(placement) for placement in placements]
    assert len(placements) == 10
    assert len({*companies}) == 2
    assert companies[0] == companies[2] != companies[1] == companies[3]


def test_behind_a_single_switch_all_placements_are_alike() -> None:
    assert len(decide(FOUR, [job("a", 2), job("b", 1)], most=10)) == 1


def test_servers_with_several_gpus() -> None:
    """Whom the new job has beside it is all that is open."""
    servers = servers_of(single_switch(2, RATE_BPS), gpus=2)
    jobs = [job("a", servers=("server0",)), job("b", servers=("server1",)), job("c", submit_s=50)]
    found = [placement["c"] for placement in decide(servers, jobs, most=10)]
    assert found == [("server0",), ("server1",)]


def test_a_ring_visits_a_leaf_and_a_server_once() -> None:
    servers = servers_of(leaf_spine(4, 2, 2, RATE_BPS), gpus=2)
    (placement,) = decide(servers, [job("a", 2, servers=("server3", "server1")), job("b", 6)])
    assert placement["b"] == ("server0", "server0", "server1", "server2", "server2", "server3")


def test_a_seed_repeats_every_decision() -> None:
    jobs = [job(f"job{index}", 1 + index % 5, submit_s=10 * index) for index in range(9)]

    def run(seed: int) -> list[list[Placement]]:
        themis = Themis(TESTBED, seed)
        return [themis.placements(jobs, now_s, 10) for now_s in (100.0, 120.0)]

    assert run(1) == run(1)
    assert run(1) != run(2)
    assert run(1)[0][0] == run(2)[0][0]


@given(servers_and_jobs(), st.integers(1, 12))
def test_candidates_keep_the_rules(case: tuple[GpuServers, list[WaitingJob]], most: int) -> None:
    """The same jobs, work conservation, and differences that the links see."""
    servers, jobs = case
    placements = decide(servers, jobs, most=most)
    assert 1 <= len(placements) <= most
    leaves = leaves_of(servers.cluster)
    assert len({leaves.link_form(placement) for placement in placements}) == len(placements)
    for placement in placements:
        assert set(placement) == set(placements[0])
        left = servers.num_gpus - sum(map(len, placement.values()))
        assert all(each.workers > left for each in jobs if each.id not in placement)
