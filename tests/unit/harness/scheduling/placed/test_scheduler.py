"""What a scheduler of rounds keeps, whom it moves, and what it writes down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from harness.job_table import JobTable
from harness.scheduling.placed.policies import POLICIES
from harness.scheduling.placed.policy import GpuServers, Placement, Rounds, WaitingJob
from harness.scheduling.placed.scheduler import PlacedScheduler, dedicated_iteration_s
from tests.unit.builders import GBIT, TOY_ALONE_S, TOY_COMPUTE_S, TOY_TRANSFER_S, toy_transfer
from tests.unit.harness.placed_builders import (
    arriving,
    placed_arm,
    placement_of,
    scheduler_of,
    scheduler_spec,
)
from traces.arm import Arm
from traces.cluster import dumbbell
from traces.demand import Demand
from traces.topologies.cassini_24 import cassini_24

ONE_AND_TWO = {
    "one": ("server0", "server0", "server1"),
    "two": ("server2", "server2", "server1"),
}
THREE_APART = ("server0", "server0", "server2")


class Scripted:
    """A policy by hand. asked: what it was told, decision by decision."""

    def __init__(self) -> None:
        self.answers: list[list[Placement]] = []
        self.asked: list[tuple[list[WaitingJob], float, int]] = []

    def __call__(self, servers: GpuServers, rounds: Rounds, seed: int) -> Scripted:
        return self

    def placements(self, jobs: Sequence[WaitingJob], now_s: float, most: int) -> list[Placement]:
        self.asked.append((list(jobs), now_s, most))
        return self.answers.pop(0)


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    scripted = Scripted()
    monkeypatch.setitem(POLICIES, "themis", scripted)
    return scripted


def three_jobs(interleaver: str = "cassini") -> Arm:
    return placed_arm((arriving("one"), arriving("two"), arriving("three")), interleaver)


def decide(scheduler: PlacedScheduler, now_s: float = 0.0, jobs: int = 3) -> object:
    return scheduler.decide(np.arange(jobs), now_s)


def test_nothing_changes_where_the_placement_stays(policy: Scripted) -> None:
    scheduler, _ = scheduler_of(three_jobs())
    policy.answers = [[ONE_AND_TWO], [dict(ONE_AND_TWO)]]
    first = decide(scheduler)
    shifts = dict(scheduler.shifts)
    assert set(shifts) == {"one", "two"}
    assert decide(scheduler, 1.0) is first
    assert scheduler.shifts == shifts
    assert scheduler.record.decisions == 1


def test_the_allocation_says_what_the_placement_does(policy: Scripted) -> None:
    arm = three_jobs()
    scheduler, _ = scheduler_of(arm)
    policy.answers = [[dict(reversed(ONE_AND_TWO.items()))]]
    found = scheduler.decide(np.arange(3), 0.0)
    assert found.jobs.tolist() == [0, 1]
    assert placement_of(arm, found) == ONE_AND_TWO
    assert found.iteration_s == pytest.approx([TOY_ALONE_S] * 2)


def test_placements_that_share_no_link_are_told_apart(policy: Scripted) -> None:
    scheduler, _ = scheduler_of(three_jobs())
    policy.answers = [[{"one": ONE_AND_TWO["one"]}], [ONE_AND_TWO]]
    decide(scheduler)
    assert (scheduler.record.scores, scheduler.record.unshared) == ([1.0], 1)
    scheduler.decide(np.arange(3), 1.0)
    assert (len(scheduler.record.scores), scheduler.record.unshared) == (2, 1)


def test_an_end_leaves_the_shifts_of_those_who_stay(policy: Scripted) -> None:
    scheduler, _ = scheduler_of(three_jobs())
    policy.answers = [[ONE_AND_TWO], [{"two": ONE_AND_TWO["two"]}]]
    decide(scheduler)
    before = scheduler.shifts["two"]
    found = scheduler.decide(np.arange(3), 1.0)
    assert found.jobs.tolist() == [1]
    assert scheduler.shifts == {"two": before}
    assert scheduler.record.decisions == 1
    assert scheduler.record.candidates == 1


def test_a_running_job_keeps_its_shift_when_its_neighbour_is_another(policy: Scripted) -> None:
    scheduler, _ = scheduler_of(three_jobs())
    policy.answers = [
        [ONE_AND_TWO],
        [{"two": ONE_AND_TWO["two"], "three": ONE_AND_TWO["one"]}],
        [{"two": ONE_AND_TWO["two"], "one": ONE_AND_TWO["one"]}],
    ]
    decide(scheduler)
    before = scheduler.shifts["two"]
    assert before.shift_s == pytest.approx(TOY_ALONE_S / 2)
    for other in ("three", "one"):
        decide(scheduler)
        assert scheduler.shifts["two"] == before
        apart_s = abs(scheduler.shifts[other].shift_s - before.shift_s)
        assert TOY_TRANSFER_S <= apart_s <= TOY_ALONE_S - TOY_TRANSFER_S


def test_the_candidate_whose_links_fit_is_taken(policy: Scripted) -> None:
    half = Demand(0.04, (toy_transfer(ready_s=0.04),))
    most = Demand(0.02, (toy_transfer(ready_s=0.02, bytes=10e6),))
    jobs = (
        arriving("one", 2, demand=half), arriving("two", 2, demand=half),
        arriving("big", 2, demand=most),
    )  # fmt: skip
    scheduler, _ = scheduler_of(placed_arm(jobs, "cassini", cluster=dumbbell(3, 3, GBIT), gpus=1))
    meets_big = {
        "one": ("left0", "right0"),
        "two": ("left1", "left2"),
        "big": ("right1", "left1"),
    }
    apart = {
        "one": ("left0", "right0"),
        "two": ("left1", "right1"),
        "big": ("right2", "right0"),
    }
    fits = {
        "one": ("left0", "right0"),
        "two": ("left1", "right1"),
        "big": ("left2", "left2"),
    }
    policy.answers = [[meets_big, apart, fits]]
    found = scheduler.decide(np.arange(3), 0.0)
    assert scheduler.record.candidates == 3
    assert scheduler.record.scores == pytest.approx([1.0])
    assert found.servers[-2:].tolist() == [2, 2]


def triangle() -> tuple[Arm, Placement]:
    """Each two of the jobs meet at one server, and send half of the time: no shifts suit all."""
    demand = Demand(0.04, (toy_transfer(ready_s=0.04),))
    names = ("one", "two", "three")
    jobs = tuple(arriving(name, 2, demand=demand) for name in names)
    servers = (("left0", "left1"), ("left1", "left2"), ("left2", "left0"))
    arm = placed_arm(jobs, "cassini", cluster=dumbbell(3, 1, GBIT))
    return arm, dict(zip(names, servers, strict=True))


def test_where_all_are_discarded_the_first_runs_as_it_comes(policy: Scripted) -> None:
    arm, loop = triangle()
    scheduler, _ = scheduler_of(arm)
    policy.answers = [[loop, {name: at[::-1] for name, at in loop.items()}]]
    found = scheduler.decide(np.arange(3), 0.0)
    assert placement_of(arm, found) == loop
    assert scheduler.shifts == {}
    record = scheduler.record
    assert (record.candidates, record.discarded_by_loops, record.without_shifts) == (2, 2, 1)
    assert record.scores == []


def test_a_discarded_candidate_is_passed_over(policy: Scripted) -> None:
    arm, loop = triangle()
    scheduler, _ = scheduler_of(arm)
    other = {**loop, "three": ("left2", "right0")}
    policy.answers = [[loop, other]]
    found = scheduler.decide(np.arange(3), 0.0)
    assert placement_of(arm, found) == other
    assert (scheduler.record.discarded_by_loops, scheduler.record.without_shifts) == (1, 0)


def test_without_an_interleaver_one_candidate_is_asked_for(policy: Scripted) -> None:
    scheduler, _ = scheduler_of(three_jobs("none"))
    policy.answers = [[ONE_AND_TWO]]
    decide(scheduler)
    assert [most for _, _, most in policy.asked] == [1]
    assert (scheduler.shifts, scheduler.record.candidates) == ({}, 0)
    arm = three_jobs()
    scheduler, _ = scheduler_of(arm)
    policy.answers = [[ONE_AND_TWO]]
    decide(scheduler)
    assert policy.asked[-1][2] == arm.scheduler.candidates


def test_the_policy_hears_where_jobs_run_and_how_far_they_are(policy: Scripted) -> None:
    scheduler, table = scheduler_of(three_jobs())
    policy.answers = [[ONE_AND_TWO], [{"two": ONE_AND_TWO["two"], "three": THREE_APART}]]
    decide(scheduler)
    table.done_iterations[:] = [2.0, 6.0, 0.0]
    table.attained_s[:] = [1.0, 0.9, 0.0]
    table.finish_s[1] = 0.9
    scheduler.decide(np.array([0, 2]), 1.0)
    (one, three), now_s, _ = policy.asked[-1]
    assert now_s == 1.0
    assert (one.id, one.servers, one.iterations_left) == ("one", ONE_AND_TWO["one"], 4.0)
    assert (one.iterations_done, one.attained_s) == (2.0, 1.0)
    assert (three.servers, three.workers, three.iterations_left) == ((), 3, 6.0)
    assert three.dedicated_iteration_s == pytest.approx(TOY_ALONE_S)
    (choice,) = three.choices
    assert (choice.workers, choice.together_iteration_s) == (3, TOY_COMPUTE_S)
    assert choice.apart_iteration_s == pytest.approx(TOY_ALONE_S)


@pytest.mark.parametrize("placement", sorted(POLICIES))
def test_a_seed_repeats_every_decision(placement: str) -> None:
    jobs = [arriving(f"job{index}", 4 + index) for index in range(4)]
    spec = scheduler_spec(placement=placement, interleaver="cassini")
    arm = placed_arm(jobs, cluster=cassini_24(), gpus=1, scheduler=spec)

    def run(seed: int) -> list[object]:
        scheduler, table = scheduler_of(arm, seed)
        found: list[object] = []
        for number in range(1, 5):
            placed = scheduler.decide(np.arange(number), float(number))
            _advance(table, placed.jobs.tolist())
            found += [placement_of(arm, placed), dict(scheduler.shifts)]
        return [*found, scheduler.record]

    assert run(1) == run(1)


def _advance(table: JobTable, rows: list[int]) -> None:
    table.attained_s[rows] += 1.0
    table.done_iterations[rows] += 1.0


def test_a_dedicated_iteration_has_the_slowest_servers_link() -> None:
    arm = placed_arm((arriving("one"),))
    assert dedicated_iteration_s(arm, arm.jobs[0]) == pytest.approx(TOY_ALONE_S)
    slow_middle = placed_arm((arriving("one", 2),), cluster=dumbbell(2, 2, GBIT, GBIT / 4))
    assert dedicated_iteration_s(slow_middle, slow_middle.jobs[0]) == pytest.approx(TOY_ALONE_S)
