"""An arm whose jobs a scheduler places, round by round, on a simulated or an emulated network."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.job_table import JobTable
from harness.leases import Leases
from harness.placed_cluster import NetworkJobs, PlacedCluster, Stint
from harness.rounds import run_rounds
from harness.scheduling.placed.scheduler import PlacedScheduler, ScheduleRecord
from harness.scheduling.pollux.placements import MOST_SERVERS
from traces.arm import Arm
from traces.errors import BadInputError
from traces.results import IterationRow, iteration_rows


@dataclass(frozen=True)
class PlacedRun:
    """How an arm went. stints: what jobs did between a start and an end, as they ended.

    table: of the arm's jobs, in their order. stopped: by a person.
    """

    stints: tuple[Stint, ...]
    table: JobTable
    record: ScheduleRecord
    stopped: bool

    def iterations_wanted(self, arm: Arm) -> int:
        """How many all jobs take to their ends: those that they did, and what is left of their work
        with the workers that they ask for.

        The work is that of the scenario, and what is done of it that of the stints, whatever the
        table says. An iteration more than it takes is one too many.
        """
        return sum(
            _iterations_wanted(
                arm.iterations_of(job) * job.profile.num_gpus,
                job.profile.num_gpus,
                [
                    (len(stint.servers), len(stint.spans))
                    for stint in self.stints
                    if stint.job == job.id
                ],
            )
            for job in arm.jobs
        )

    def iteration_rows(self, arm: Arm) -> list[IterationRow]:
        """The iterations table. With every start of a job comes a warm-up of its own."""
        return [
            row
            for stint in self.stints
            for row in iteration_rows(
                arm.name, stint.job, stint.spans, arm.warmup_iterations, 0.0, stint.first_iteration
            )
        ]


def _iterations_wanted(batches: int, workers: int, done: Sequence[tuple[int, int]]) -> int:
    """Of a job of so many ``batches`` of one GPU. done: (workers, iterations) one after the other.

    workers: with which the rest is done.
    """
    wanted = 0
    for workers_then, iterations in done:
        taken = min(iterations, math.ceil(batches / workers_then))
        batches = max(batches - taken * workers_then, 0)
        wanted += taken
    return wanted + math.ceil(batches / workers)


def check_placed(arm: Arm) -> None:
    """Refuse jobs that no placement has room for. Raises BadInputError."""
    num_gpus = len(arm.cluster.servers) * arm.gpus
    under_pollux = min(num_gpus, MOST_SERVERS * arm.gpus)
    previous_s = 0.0
    for number, job in enumerate(arm.jobs):
        if job.profile.num_gpus > num_gpus:
            raise BadInputError(
                f"job {job.id!r} has {job.profile.num_gpus} workers, and arm {arm.name!r} "
                f"{num_gpus} GPUs",
                allowed=f"at most {num_gpus}",
                key=f"workload.jobs.{number}.workers",
            )
        least = min((profile.num_gpus for profile in job.choices), default=0)
        if least > under_pollux:
            raise BadInputError(
                f"job {job.id!r} has {least} workers or more, and Pollux puts a job on "
                f"{MOST_SERVERS} servers at most, which have {under_pollux} GPUs",
                allowed=f"at most {under_pollux}",
                key=f"workload.jobs.{number}.workers",
            )
        if job.start_s < previous_s:
            raise BadInputError(
                f"job {job.id!r} arrives before the job that stands before it",
                allowed="jobs in the order in which they arrive",
                key=f"workload.jobs.{number}.start",
            )
        previous_s = job.start_s


def _table_of(arm: Arm) -> JobTable:
    return JobTable.of(
        submit_s=np.array([job.start_s for job in arm.jobs]),
        kind=np.arange(len(arm.jobs), dtype=np.int64),
        num_gpus=np.array([job.profile.num_gpus for job in arm.jobs], dtype=np.int64),
        iterations=np.array([float(arm.iterations_of(job)) for job in arm.jobs]),
    )


def rehearse(arm: Arm, seed: int) -> None:
    """Decide once about all jobs of ``arm``: what a first decision loads takes half a second, which
    jobs of an emulation would wait for."""
    scheduler = PlacedScheduler(arm, _table_of(arm), seed)
    scheduler.decide(np.arange(len(arm.jobs)), arm.jobs[-1].start_s)


def run_placed(
    arm: Arm,
    seed: int,
    network: NetworkJobs,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    stop: Callable[[], bool] = lambda: False,
) -> PlacedRun:
    """Run ``arm`` until all jobs are done; once a stop is wanted, no further round begins.

    progress: is told how many iterations of all are done.
    """
    table = _table_of(arm)
    scheduler = PlacedScheduler(arm, table, seed)
    cluster = PlacedCluster(arm, table, network, scheduler)
    total = int(table.iterations.sum())
    progress(0, total)
    run = run_rounds(
        table,
        scheduler,
        cluster,
        Leases(table),
        arm.scheduler.round,
        np.ones(len(table), dtype=np.bool_),
        stop=stop,
        passed=lambda _: progress(int(table.done_iterations.sum()), total),
    )
    cluster.end_all()
    return PlacedRun(tuple(cluster.stints), table, scheduler.record, run.stopped)
