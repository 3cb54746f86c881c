"""Arms whose jobs a scheduler places, and the allocations of hand-made placements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.job_table import JobTable
from harness.scheduling.allocation import Allocation
from harness.scheduling.placed.scheduler import PlacedScheduler
from tests.unit.builders import GBIT, make_arm, make_profile
from traces.arm import Arm, Job
from traces.demand import Demand
from traces.scenario_spec import SchedulerSpec
from traces.topologies.single_switch import single_switch


def arriving(
    name: str,
    workers: int = 3,
    iterations: int = 6,
    start_s: float = 0.0,
    demand: Demand | None = None,
) -> Job:
    """The toy job without servers."""
    profile = make_profile(demand, workers=workers)
    return Job(id=name, profile=profile, iterations=iterations, start_s=start_s)


def elastic(name: str, workers: int = 3, most: int = 6, **changes: Any) -> Job:
    """The toy job, which asks for ``workers`` and may have any number up to ``most``."""
    job = arriving(name, workers, **changes)
    choices = tuple(arriving(name, count).profile for count in range(1, most + 1))
    return job.model_copy(update={"choices": choices})


def scheduler_spec(**changes: Any) -> SchedulerSpec:
    """Themis in rounds of a second; a job begins 0.2 s after a round does."""
    values = {"placement": "themis", "round": "1 s", "restart": "0.2 s"}
    return SchedulerSpec.model_validate(values | changes)


def placed_arm(jobs: Sequence[Job], interleaver: str = "none", **changes: Any) -> Arm:
    """Three servers with two GPUs each, so that two jobs of three workers meet on one of them."""
    values: dict[str, Any] = {
        "cluster": single_switch(3, GBIT),
        "gpus": 2,
        "scheduler": scheduler_spec(interleaver=interleaver),
        "warmup_iterations": 0,
    }
    return make_arm(jobs, **(values | changes))


def table_of(arm: Arm) -> JobTable:
    return JobTable.of(
        submit_s=np.array([job.start_s for job in arm.jobs]),
        kind=np.arange(len(arm.jobs), dtype=np.int64),
        num_gpus=np.array([job.profile.num_gpus for job in arm.jobs], dtype=np.int64),
        iterations=np.array([float(arm.iterations_of(job)) for job in arm.jobs]),
    )


def allocation(arm: Arm, placement: Mapping[str, Sequence[str]]) -> Allocation:
    """That of a scheduler which decides for ``placement``."""
    rows = [row for row, job in enumerate(arm.jobs) if job.id in placement]
    servers = [
        arm.cluster.servers.index(server) for row in rows for server in placement[arm.jobs[row].id]
    ]
    counts = [len(placement[arm.jobs[row].id]) for row in rows]
    return Allocation(
        jobs=np.array(rows, dtype=np.int64),
        gpu_type=np.zeros(len(rows), dtype=np.int64),
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        servers=np.array(servers, dtype=np.int64),
        gpus=np.ones(len(servers), dtype=np.int64),
        share=np.zeros((len(rows), 3)),
        iteration_s=np.ones(len(rows)),
        held_to_fair_share=np.zeros(len(rows), dtype=np.bool_),
    )


def placement_of(arm: Arm, found: Allocation) -> dict[str, tuple[str, ...]]:
    """What an allocation says, by the names of jobs and servers."""
    names = arm.cluster.servers
    return {
        arm.jobs[row].id: tuple(
            names[server]
            for server in found.servers[found.offsets[position] : found.offsets[position + 1]]
        )
        for position, row in enumerate(found.jobs.tolist())
    }


def scheduler_of(arm: Arm, seed: int = 1) -> tuple[PlacedScheduler, JobTable]:
    table = table_of(arm)
    return PlacedScheduler(arm, table, seed), table
