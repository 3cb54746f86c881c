"""TUNE and OPT asked about the same rounds: how long each takes, and how OPT's jobs lie on servers.

TUNE decides how the run goes on; at rounds in between, OPT is asked beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from harness.experiments.reproduce.simulated import arm_of
from harness.experiments.rounds.workload import Workload, build_workload, trace_of
from harness.job_table import Floats, Ints
from harness.leases import Leases
from harness.rounds import run_rounds
from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands
from harness.scheduling.mechanisms import MECHANISMS
from harness.scheduling.opt.configurations import (
    Capacity,
    Configurations,
    JobClass,
    choose_configurations,
)
from harness.scheduling.policies import POLICIES
from harness.scheduling.scheduler import Scheduler
from harness.scheduling.waiting import ActiveJobs
from harness.simulation.round_cluster import RoundSemantics, SimulatedCluster
from traces.rounds_scenario import RoundsArm
from traces.server_pool import ServerPool

Result = TypeVar("Result")


@dataclass(frozen=True)
class SampledRound:
    """A round in which all GPUs were taken, and every mechanism decided anew.

    tune_s, opt_s: the whole decision; opt by kinds of jobs. opt_by_job_s: the same programme with
    variables of its own for every job, as the paper writes it. jobs: that ran. fragmented: of them,
    on several servers once OPT's shares were mapped; fractional: with a part of a GPU on one.
    """

    tune_s: float
    opt_s: float
    opt_by_job_s: float
    jobs: int
    fragmented: int
    fractional: int


def sample_rounds(
    scenario: dict[str, Any], seed: int, count: int, every: int, told: Callable[[int], None]
) -> list[SampledRound]:
    """``count`` rounds of a scenario with one type of GPU, ``every`` so many that change something.

    told: of how many there are.
    """
    arm = arm_of(scenario)
    workload = build_workload(arm, trace_of(arm, seed), seed)
    beside = _OptBesideTune(workload.demands, arm.pool, count, every, told)
    _run(arm, workload, beside)
    return beside.sampled


def _run(arm: RoundsArm, workload: Workload, mechanism: _OptBesideTune) -> None:
    """Until enough rounds are sampled."""
    table = workload.table
    scheduler = Scheduler(
        POLICIES[arm.scheduler.policy](),
        mechanism,
        table,
        workload.demands,
        arm.pool,
        arm.scheduler.priority_after,
    )
    semantics = RoundSemantics(arm.scheduler.round)
    run_rounds(
        table,
        scheduler,
        SimulatedCluster(table, semantics),
        Leases(table),
        semantics.round_s,
        workload.measured,
        stop=lambda: mechanism.enough,
    )


class _OptBesideTune:
    """A mechanism: TUNE's allocations, and OPT timed beside some of them."""

    order_matters = False

    def __init__(
        self,
        demands: Demands,
        pool: ServerPool,
        count: int,
        every: int,
        told: Callable[[int], None],
    ) -> None:
        self._demands = demands
        self._pool = pool
        self._tune = MECHANISMS["tune"](demands, pool, "best-fit")
        self._opt = MECHANISMS["opt"](demands, pool, "super-machine")
        self._mapped = MECHANISMS["opt"](demands, pool, "servers")
        self._capacity = Capacity(
            np.array([float(pool.num_gpus)]), *pool.resources.sum(axis=0)[:2, None]
        )
        self._count = count
        self._every = every
        self._told = told
        self._changes = 0
        self.sampled: list[SampledRound] = []

    @property
    def iteration_s_by_kind(self) -> Floats:
        """As TUNE's."""
        return self._tune.iteration_s_by_kind

    @property
    def enough(self) -> bool:
        """Whether all rounds are sampled."""
        return len(self.sampled) >= self._count

    def report(self) -> dict[str, float]:
        """Nothing beyond ``sampled``."""
        return {}

    def allocate(self, active: ActiveJobs, order: Ints, before: Allocation) -> Allocation:
        """TUNE's allocation."""
        allocation, tune_s = _timed(lambda: self._tune.allocate(active, order, before))
        if allocation is before or self.enough:
            return allocation
        self._changes += 1
        full = int(active.table.num_gpus[allocation.jobs].sum()) == self._pool.num_gpus
        if full and self._changes % self._every == 0:
            self._sample(active, order, tune_s)
        return allocation

    def _sample(self, active: ActiveJobs, order: Ints, tune_s: float) -> None:
        known = self._opt.report()["opt_solutions"]
        nothing = Allocation.nothing()
        allocation, opt_s = _timed(lambda: self._opt.allocate(active, order, nothing))
        if self._opt.report()["opt_solutions"] == known:
            return  # as many jobs of each kind as once before: OPT had the answer already
        kinds = active.table.kind[allocation.jobs]
        by_job = [self._class_of_one(int(kind)) for kind in kinds]
        _, opt_by_job_s = _timed(lambda: choose_configurations(by_job, self._capacity))
        mapped = self._mapped.allocate(active, order, nothing)
        servers = np.diff(mapped.offsets)
        parts = np.abs(mapped.gpus - np.rint(mapped.gpus)) > 1e-6
        split = np.unique(np.repeat(mapped.jobs, servers)[parts])
        self.sampled.append(
            SampledRound(
                tune_s=tune_s,
                opt_s=opt_s,
                opt_by_job_s=opt_by_job_s,
                jobs=len(mapped.jobs),
                fragmented=int(np.count_nonzero(servers > 1)),
                fractional=len(split),
            )
        )
        self._told(len(self.sampled))

    def _class_of_one(self, kind: int) -> JobClass:
        grid = self._demands.grids[kind][0]
        if grid is None:
            raise ValueError("a job runs on a type of GPU that it has no profile for")
        num_gpus = self._demands.kinds[kind].num_gpus
        return JobClass(
            count=1,
            gpus=num_gpus,
            configurations=Configurations(
                gpu_type=np.zeros(len(grid.cpus), dtype=np.intp),
                cpus=grid.cpus * num_gpus,
                memory_bytes=grid.memory_bytes * num_gpus,
                throughput=1 / grid.iteration_s,
            ),
            floor=float(1 / self._demands.fair_iteration_s[kind, 0]),
        )


def _timed(decide: Callable[[], Result]) -> tuple[Result, float]:
    began_s = time.perf_counter()
    result = decide()
    return result, time.perf_counter() - began_s
