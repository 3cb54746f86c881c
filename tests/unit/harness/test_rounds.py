"""The round loop by hand: who starts and ends when, and when the loop does.

A round takes 100 s, an iteration 1 s, and every job has one GPU.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from harness.job_table import JobTable
from harness.simulation.round_cluster import RoundSemantics
from tests.unit.harness.random_workloads import random_workload
from tests.unit.harness.scheduling_builders import (
    Kind,
    Run,
    demands_of,
    pool_of,
    run_jobs,
    table_of,
)

ONE_GPU, TWO_GPUS = pool_of(servers=1, gpus=1), pool_of(servers=1, gpus=2)
DEMANDS = demands_of(TWO_GPUS, Kind())


def jobs_of(*jobs: tuple[float, float], profiling_s: float = 0.0) -> JobTable:
    """Jobs as (submit_s, iterations)."""
    submit_s, iterations = zip(*jobs, strict=True)
    return table_of(DEMANDS, iterations=iterations, submit_s=submit_s, profiling_s=profiling_s)


def spans(run: Run) -> list[tuple[float, float]]:
    """(start, finish) of each job."""
    return list(zip(run.table.start_s.tolist(), run.table.finish_s.tolist(), strict=True))


def test_a_job_that_waits_starts_in_the_round_after_one_ends() -> None:
    """The GPU of the one that ends inside its round stays idle until the round is over."""
    run = run_jobs(jobs_of((0, 150), (0, 350), (0, 80)), DEMANDS, TWO_GPUS)
    assert spans(run) == [(0, 150), (0, 350), (200, 280)]


@pytest.mark.parametrize(
    ("submit_s", "start_s"), [(0, 0), (50, 100), (99.9, 100), (100, 100), (100.1, 200)]
)
def test_a_job_joins_at_the_next_rounds_start(submit_s: float, start_s: float) -> None:
    run = run_jobs(jobs_of((0, 1000), (submit_s, 10)), DEMANDS, TWO_GPUS)
    assert spans(run)[1] == (start_s, start_s + 10)


@pytest.mark.parametrize("number", [3, 6, 7, 43])
def test_rounding_does_not_make_a_job_miss_its_round(number: int) -> None:
    """Ready at the number'th multiple of 0.1, which in binary may lie after 0.1 times number."""
    submit_s = sum([0.1] * number)
    semantics = RoundSemantics(0.1)
    run = run_jobs(jobs_of((submit_s, 1)), DEMANDS, ONE_GPU, semantics=semantics)
    assert run.table.start_s == pytest.approx([0.1 * number])
    assert run.rounds.end_s == pytest.approx(0.1 * number + 1)


def test_a_job_joins_once_it_is_profiled() -> None:
    run = run_jobs(jobs_of((0, 50), (60, 50), profiling_s=130), DEMANDS, TWO_GPUS)
    assert run.table.ready_s.tolist() == [130, 190]
    assert spans(run) == [(200, 250), (200, 250)]


def test_rounds_without_jobs_do_not_count() -> None:
    run = run_jobs(jobs_of((0, 150), (1000, 50)), DEMANDS, ONE_GPU)
    assert spans(run) == [(0, 150), (1000, 1050)]
    assert (run.rounds.rounds, run.rounds.end_s) == (3, 1100)


def test_the_first_job_may_come_late() -> None:
    run = run_jobs(jobs_of((950, 50)), DEMANDS, ONE_GPU)
    assert spans(run) == [(1000, 1050)]
    assert (run.rounds.rounds, run.rounds.decisions) == (1, 1)


def test_a_steady_scheduler_decides_when_jobs_come_and_end() -> None:
    """At 0 s; at 300 s, when the second job joins; and at 500 s, when it has ended."""
    run = run_jobs(jobs_of((0, 1000), (250, 150)), DEMANDS, TWO_GPUS)
    assert spans(run) == [(0, 1000), (300, 450)]
    assert (run.rounds.rounds, run.rounds.decisions) == (10, 3)


def test_preemption_costs_a_checkpoint_and_two_restarts() -> None:
    """The first job does 90 iterations, makes way for the shorter one, and resumes at 215 s."""
    semantics = RoundSemantics(100.0, restart_s=10.0, checkpoint_s=5.0)
    run = run_jobs(jobs_of((0, 300), (50, 50)), DEMANDS, ONE_GPU, "srtf", semantics=semantics)
    assert spans(run) == [(0, 425), (100, 160)]
    assert run.table.leases.tolist() == [2, 1]
    assert run.leases.spans() == [(0, 0, 0, 100), (1, 0, 100, 160), (0, 0, 200, 425)]
    assert run.table.attained_s.tolist() == [100 + 225, 60]


def test_a_moved_job_has_a_new_lease() -> None:
    """The job of two GPUs gets a server of its own, which one of the others has to leave."""
    pool = pool_of(servers=2, gpus=2)
    demands = demands_of(pool, Kind(), Kind(num_gpus=2))
    table = table_of(
        demands,
        iterations=[900, 50, 900, 80],
        submit_s=[0, 0, 0, 100],
        kinds=[0, 0, 0, 1],
    )
    run = run_jobs(table, demands, pool)
    assert run.leases.spans() == [
        (0, 0, 0, 100),
        (1, 0, 0, 50),
        (3, 0, 100, 180),
        (0, 1, 100, 900),
        (2, 1, 0, 900),
    ]
    assert run.table.leases.tolist() == [2, 1, 1, 1]
    assert spans(run) == [(0, 900), (0, 50), (0, 900), (100, 180)]


def test_the_run_ends_with_the_last_job_that_counts() -> None:
    measured = np.array([True, False, True, False])
    table = jobs_of((0, 150), (0, 1000), (0, 50), (0, 1000))
    run = run_jobs(table, DEMANDS, TWO_GPUS, measured=measured)
    assert run.table.finish_s[[0, 2]].tolist() == [150, 250]
    assert np.isnan(run.table.finish_s[[1, 3]]).all()
    assert (run.rounds.rounds, run.rounds.end_s, run.rounds.stopped) == (3, 300, False)
    assert run.table.done_iterations.tolist() == [150, 300, 50, 0]
    assert run.leases.spans() == [(0, 0, 0, 150), (1, 0, 0, 300), (2, 0, 200, 250)]


def test_without_jobs_that_count_nothing_runs() -> None:
    run = run_jobs(jobs_of((0, 150)), DEMANDS, ONE_GPU, measured=np.array([False]))
    assert (run.rounds.rounds, run.rounds.decisions, run.rounds.end_s) == (0, 0, 0)
    assert np.isnan(run.table.start_s[0])


def test_a_person_may_stop_a_run() -> None:
    """It asks now and then; what the jobs held is written down."""
    asked = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) == 2

    run = run_jobs(jobs_of((0, 1e9)), DEMANDS, ONE_GPU, "las", stop=stop)
    assert run.rounds.stopped
    assert run.rounds.decisions == run.rounds.rounds < 10_000
    assert run.leases.spans() == [(0, 0, 0, run.rounds.end_s)]
    assert np.isnan(run.table.finish_s[0])


def test_progress_is_told_how_many_have_ended() -> None:
    told: list[int] = []
    table = jobs_of((0, 50), (0, 60_000), (0, 50))
    measured = np.array([True, True, False])
    run_jobs(table, DEMANDS, TWO_GPUS, "las", measured=measured, progress=told.append)
    assert told == sorted(told)
    assert told[0] == 1
    assert told[-1] == 2


def test_progress_is_told_at_the_end_of_a_short_run_too() -> None:
    told: list[int] = []
    run_jobs(jobs_of((0, 50), (0, 50)), DEMANDS, TWO_GPUS, progress=told.append)
    assert told == [2]


@pytest.mark.parametrize("policy", ["tiresias", "ftf", "srtf"])
def test_the_same_run_twice_is_the_same_to_the_last_bit(policy: str) -> None:
    runs = []
    for _ in range(2):
        workload = random_workload(np.random.default_rng(5), types=2, jobs=60, mean_gap_s=30)
        semantics = RoundSemantics(100.0, restart_s=7.0, checkpoint_s=3.0)
        args = workload.table, workload.demands, workload.pool, policy, "tune", semantics
        runs.append(run_jobs(*args, placement="balanced"))
    one, other = runs
    for column in fields(JobTable):
        np.testing.assert_array_equal(
            getattr(one.table, column.name), getattr(other.table, column.name)
        )
    assert one.rounds == other.rounds
    assert one.leases.rows == other.leases.rows
