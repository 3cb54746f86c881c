"""Jobs that come and go: what is drawn, and the figures of what was emulated."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.verdict import Invariant, Status, judge
from harness.experiments.placed import PlacedRun
from harness.experiments.reproduce.cassini.scheduled import (
    Part,
    PublishedGains,
    ScheduledArm,
    ScheduledArms,
    figures_of,
)
from harness.experiments.reproduce.cassini.workloads import (
    CASSINI,
    DYNAMIC,
    DYNAMIC_MEETING,
    IDEAL,
    MULTIGPU,
    POISSON_DATA_PARALLEL,
    POISSON_MODEL_PARALLEL,
    POLLUX,
    POLLUX_CASSINI,
    POLLUX_HOST,
    THEMIS,
    THEMIS_HOST,
    Workload,
)
from harness.experiments.reproduce.comparisons import NOTHING_PUBLISHED, Published
from harness.experiments.reproduce.recipe import ReproducedFigure
from harness.job_table import JobTable
from harness.scheduling.placed.scheduler import ScheduleRecord
from traces.generators.cassini_jobs import alone_s

WORKLOADS = (
    DYNAMIC, DYNAMIC_MEETING, MULTIGPU, POISSON_DATA_PARALLEL, POISSON_MODEL_PARALLEL,
)  # fmt: skip
PART = Part(
    DYNAMIC,
    (THEMIS, CASSINI, IDEAL, POLLUX, POLLUX_CASSINI),
    {
        THEMIS_HOST: PublishedGains(
            Published(1.5, 0.1, "paper"), NOTHING_PUBLISHED, Published(27, 0.1, "paper", "at least")
        ),
        POLLUX_HOST: PublishedGains(Published(1.6, 0.1, "paper"), Published(2.5, 0.1, "paper")),
    },
)


@pytest.mark.parametrize("workload", WORKLOADS, ids=[each.id for each in WORKLOADS])
def test_every_workload_is_a_scenario_that_its_seed_repeats(workload: Workload) -> None:
    scenarios = [workload.scenario(seed, workload.arms) for seed in (1, 1, 2)]
    first, again, other = (scenario.arms[0].jobs for scenario in scenarios)
    assert first == again
    assert first != other
    assert [arm.name for arm in scenarios[0].arms] == list(workload.arms)
    assert all(arm.gpus == workload.gpus for arm in scenarios[0].arms)


def test_iteration_times_are_made_to_meet() -> None:
    jobs = DYNAMIC_MEETING.draw(np.random.default_rng(1))
    times_s = [alone_s(job.model, job.workers, job.batch) for job in jobs]
    assert max(times_s) / min(times_s) < 1.05


def test_jobs_come_as_often_as_the_load_says() -> None:
    """Work arrives for all GPUs at a load of 1. The mean of 350 gaps has a standard deviation of 6
    %: a quarter off, which is four of them, would be seen with fewer than 1 in 10,000 seeds."""
    gaps_s, wanted_s = [], []
    for seed in range(50):
        jobs = POISSON_DATA_PARALLEL.draw(np.random.default_rng(seed))
        gaps_s += np.diff([job.arrival_s for job in jobs]).tolist()
        wanted_s += [
            job.workers * job.iterations * alone_s(job.model, job.workers, job.batch) / 24
            for job in jobs[:-1]
        ]
    assert np.mean(gaps_s) == pytest.approx(np.mean(wanted_s), rel=0.25)


def emulated(
    arm: str, seed: int, iteration_s: float, marks: float | None = 0.0, *, ok: bool = True
) -> ScheduledArm:
    """One job, which ends after a hundred iterations."""
    one = np.ones(1, dtype=np.int64)
    table = JobTable.of(np.zeros(1), one, one, np.array([100.0]))
    table.finish_s[0] = 100 * iteration_s
    return ScheduledArm(
        workload=DYNAMIC,
        arm=arm,
        seed=seed,
        measured_s=(iteration_s,) * 10,
        predicted_s=(iteration_s * 1.02,) * 10,
        marks_per_iteration=None if marks is None else {"dlrm": marks},
        schedule=PlacedRun((), table, ScheduleRecord(unshared=1, scores=[1.0, 0.9]), stopped=False),
        verdict=judge([Invariant("a check", ok, 1.0, 0.0, "", Status.SUSPECT)]),
    )


def figures(*arms: ScheduledArm) -> dict[str, ReproducedFigure]:
    made = figures_of([PART], ScheduledArms(arms, interrupted=False))
    return {figure.name.removeprefix("dynamic: "): figure for figure in made}


def test_gains_are_ratios_of_paired_seeds() -> None:
    found = figures(
        emulated(THEMIS, 1, 0.3), emulated(CASSINI, 1, 0.2), emulated(IDEAL, 1, 0.1),
        emulated(THEMIS, 2, 0.3), emulated(CASSINI, 2, 0.2),
        emulated(THEMIS, 3, 9.9),
    )  # fmt: skip
    gain = found["mean iteration time, Themis over Themis with CASSINI"]
    assert gain.ours == pytest.approx(1.5)
    assert gain.ok is True
    assert (
        "2 seeds; of 4 placements that CASSINI chose 2 fit whole, 2 of them by sharing no link"
        in gain.note
    )
    over = found["mean iteration time, Themis with CASSINI over ideal"]
    assert over.ours == pytest.approx(2.0)


def test_gains_are_told_by_the_scheduler_that_cassini_is_added_to() -> None:
    found = figures(
        emulated(THEMIS, 1, 0.3), emulated(CASSINI, 1, 0.2),
        emulated(POLLUX, 1, 0.48, 66.0), emulated(POLLUX_CASSINI, 1, 0.3, 2.0),
    )  # fmt: skip
    gain = found["mean iteration time, Pollux over Pollux with CASSINI"]
    assert (gain.ours, gain.expected, gain.ok) == (pytest.approx(1.6), 1.6, True)
    assert found["p99 iteration time, Pollux over Pollux with CASSINI"].expected == 2.5
    completion = found["mean completion time, Pollux over Pollux with CASSINI"]
    assert completion.ours == pytest.approx(1.6)
    assert found["marks, Pollux over Pollux with CASSINI"].ours == 33.0
    assert found["mean iteration time, Themis over Themis with CASSINI"].ours == pytest.approx(1.5)
    assert "mean iteration time, Pollux with CASSINI over ideal" not in found


def test_the_simulator_is_held_to_its_bounds_in_every_arm() -> None:
    found = figures(emulated(THEMIS, 1, 0.3))
    (error,) = [each for name, each in found.items() if "error of the mean" in name]
    assert error.ours == pytest.approx(0.02)
    assert (error.expected, error.ok) == (0.05, True)


def test_marks_are_compared_where_there_are_any() -> None:
    name = "marks, Themis over Themis with CASSINI"
    found = figures(emulated(THEMIS, 1, 0.3, 60.0), emulated(CASSINI, 1, 0.2, 2.0))
    assert (found[name].ours, found[name].ok) == (30.0, True)
    none = figures(emulated(THEMIS, 1, 0.3, 60.0), emulated(CASSINI, 1, 0.2, 0.0))
    assert name not in none
    unknown = figures(emulated(THEMIS, 1, 0.3, None), emulated(CASSINI, 1, 0.2, None))
    assert not any("marked" in each for each in unknown)


def test_repeats_are_told_of_what_was_emulated() -> None:
    made = ScheduledArms((emulated(THEMIS, 1, 0.3),), interrupted=False, repeated=2)
    (repeats,) = [each for each in figures_of([PART], made) if "were repeated" in each.name]
    assert repeats.ours == 2.0
    assert list(figures_of([PART], ScheduledArms((), interrupted=True))) == []


def test_checks_that_failed_are_counted() -> None:
    found = figures(emulated(THEMIS, 1, 0.3), emulated(THEMIS, 2, 0.3, ok=False))
    checks = found["checks of the emulations that failed"]
    assert (checks.ours, checks.ok) == (1.0, False)
    assert "1 a check" in checks.note
