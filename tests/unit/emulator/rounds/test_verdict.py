"""Each invariant of the processes fails by its own evidence alone, and names its value."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from emulator.rounds.clock import RoundClock
from emulator.rounds.evidence import CpuHeld, RunEvidence
from emulator.rounds.verdict import by_job, process_invariants
from emulator.verdict import Status


def sound() -> RunEvidence:
    return RunEvidence(
        RoundClock(stride=10.0),
        lateness_s=[1e-5] * 100,
        cpu=[CpuHeld("one", 0.9, 0.9), CpuHeld("two", 0.8, 0.8)],
        cpu_ticks=1000,
        idle_ticks=900,
    )


def lose_workers(evidence: RunEvidence) -> None:
    evidence.workers_lost = 2


def wake_late(evidence: RunEvidence) -> None:
    evidence.lateness_s = [2e-3] * 100


def exceed_quota(evidence: RunEvidence) -> None:
    evidence.cpu += [CpuHeld("greedy", 1.25, 1.25)]


def work_inexactly(evidence: RunEvidence) -> None:
    evidence.cpu = [CpuHeld("one", 0.8, 0.88), CpuHeld("two", 0.8, 0.88)]


def leave_nothing_idle(evidence: RunEvidence) -> None:
    evidence.idle_ticks = 0


def lose_time_to_other_guests(evidence: RunEvidence) -> None:
    evidence.steal_ticks = 500


def test_sound_evidence_fails_nothing() -> None:
    assert all(each.ok for each in process_invariants(sound()))


def test_a_run_without_evidence_of_steps_does_not_divide_by_nothing() -> None:
    by_name = {each.name: each for each in process_invariants(RunEvidence(RoundClock(stride=1.0)))}
    assert by_name["CPU work"].value == by_name["timer lateness"].value == 0.0


@pytest.mark.parametrize(
    ("spoil", "name", "value", "status"),
    [
        (lose_workers, "no worker lost", 2, Status.SUSPECT),
        (wake_late, "timer lateness", 2e-3, Status.SUSPECT),
        (exceed_quota, "CPU quotas", 0.25, Status.INVALID),
        (work_inexactly, "CPU work", 0.1, Status.SUSPECT),
    ],
)
def test_an_invariant_fails_alone(
    spoil: Callable[[RunEvidence], None], name: str, value: float, status: Status
) -> None:
    evidence = sound()
    spoil(evidence)
    (failed,) = [each for each in process_invariants(evidence) if not each.ok]
    assert (failed.name, failed.on_failure) == (name, status)
    assert failed.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("spoil", "value"), [(leave_nothing_idle, 0.0), (lose_time_to_other_guests, 0.5)]
)
def test_a_box_that_was_busy_fails_one(spoil: Callable[[RunEvidence], None], value: float) -> None:
    evidence = sound()
    spoil(evidence)
    (failed,) = [each for each in process_invariants(evidence) if not each.ok]
    assert failed.value == pytest.approx(value)


def test_a_pipeline_that_mostly_waits_says_nothing_about_its_exactness() -> None:
    evidence = sound()
    evidence.cpu = [CpuHeld("one", 0.5, 0.75)]
    assert all(each.ok for each in process_invariants(evidence))


def test_a_job_counts_once_over_all_its_rounds() -> None:
    held = [CpuHeld("one", 0.5, 0.75), CpuHeld("two", 1.0, 1.0), CpuHeld("one", 1.0, 0.75)]
    assert by_job(held) == [(0.75, 0.75), (1.0, 1.0)]
