"""Pools, demands, jobs and whole runs that the tests of scheduling by rounds share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.job_table import JobTable
from harness.leases import EndedLeases, Leases
from harness.rounds import RoundsRun, run_rounds
from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands, JobKind
from harness.scheduling.mechanisms import MECHANISMS
from harness.scheduling.mechanisms.mechanism import Mechanism, Placement
from harness.scheduling.policies import POLICIES
from harness.scheduling.policies.policy import Policy
from harness.scheduling.scheduler import Scheduler
from harness.scheduling.waiting import ActiveJobs
from harness.simulation.round_cluster import RoundSemantics, SimulatedCluster
from tests.unit.harness.scheduling.packing.packing_cases import Place, places_of, rows_of
from traces.server_pool import ServerGroup, ServerPool

GB = 1e9
ROUND_S = 100.0
EXACT = RoundSemantics(ROUND_S)
FAIR_CPUS = 3.0
FAIR_MEMORY = 60 * GB


def pool_of(servers: int, gpus: int) -> ServerPool:
    """Servers that are alike, with 3 CPUs and 60 GB for each GPU."""
    return ServerPool((ServerGroup(servers, gpus, FAIR_CPUS * gpus, FAIR_MEMORY * gpus),))


@dataclass(frozen=True)
class Kind:
    """A kind of job. cpus, memory_bytes: its wish per GPU; with it, it is ``speedup`` as fast."""

    num_gpus: int = 1
    cpus: float = FAIR_CPUS
    memory_bytes: float = FAIR_MEMORY
    iteration_s: float = 1.0
    speedup: float = 1.0


def demands_of(pool: ServerPool, *kinds: Kind) -> Demands:
    """Demands as the kinds say them, on every type of GPU alike."""
    types = len(pool.groups)
    fair_s = np.array([[kind.iteration_s] * types for kind in kinds])
    wish = np.array([[[kind.cpus, kind.memory_bytes, 0.0]] * types for kind in kinds])
    fair = np.broadcast_to(pool.fair_share, wish.shape).copy()
    return Demands(
        kinds=tuple(JobKind(f"model{row}", kind.num_gpus) for row, kind in enumerate(kinds)),
        wish=wish,
        fair=fair,
        wish_iteration_s=fair_s / np.array([[kind.speedup] for kind in kinds]),
        fair_iteration_s=fair_s,
        above_fair=np.any(wish > fair, axis=2),
        grids=tuple((None,) * types for _ in kinds),
    )


def table_of(
    demands: Demands,
    *,
    iterations: Sequence[float],
    submit_s: Sequence[float] | None = None,
    kinds: Sequence[int] | None = None,
    profiling_s: float = 0.0,
) -> JobTable:
    """Jobs of the first kind that come at once, unless said otherwise."""
    kind = np.zeros(len(iterations), dtype=np.int64) if kinds is None else np.array(kinds)
    sizes = np.array([each.num_gpus for each in demands.kinds], dtype=np.int64)
    submit = np.zeros(len(iterations)) if submit_s is None else np.array(submit_s, dtype=float)
    return JobTable.of(submit, kind, sizes[kind], np.array(iterations, dtype=float), profiling_s)


def active_of(
    table: JobTable,
    demands: Demands,
    pool: ServerPool,
    now_s: float = 0.0,
    jobs: Sequence[int] | None = None,
) -> ActiveJobs:
    """All jobs, or ``jobs``; they would run, and ran, with their wishes."""
    rows = np.arange(len(table)) if jobs is None else np.array(jobs, dtype=np.int64)
    by_kind = demands.wish_iteration_s.min(axis=1)
    return ActiveJobs(rows, now_s, table, demands, pool, by_kind, by_kind[table.kind[rows]])


def places_in(allocation: Allocation) -> dict[int, Place]:
    """Job -> its place."""
    places = places_of(allocation.offsets, allocation.servers, allocation.gpus)
    return dict(zip(allocation.jobs.tolist(), places, strict=True))


def allocation_of(
    places: dict[int, Place], iteration_s: float = 1.0, share: Sequence[float] = (3.0, 60e9, 0.0)
) -> Allocation:
    """Jobs at their places, all alike otherwise."""
    jobs = sorted(places)
    offsets, servers, gpus = rows_of([places[job] for job in jobs])
    return Allocation(
        jobs=np.array(jobs, dtype=np.int64),
        gpu_type=np.zeros(len(jobs), dtype=np.int64),
        offsets=offsets,
        servers=servers,
        gpus=gpus,
        share=np.tile(np.array(share, dtype=float), (len(jobs), 1)),
        iteration_s=np.full(len(jobs), iteration_s),
        held_to_fair_share=np.zeros(len(jobs), dtype=np.bool_),
    )


@dataclass(frozen=True)
class Lease:
    """A row of EndedLeases."""

    job: int
    server: int
    gpus: int
    cpus: float
    memory_bytes: float
    storage_bytes_per_s: float
    from_s: float
    until_s: float
    held_to_fair_share: bool


@dataclass
class LeaseLog:
    """Collects the leases that end."""

    rows: list[Lease] = field(default_factory=list)

    def __call__(self, ended: EndedLeases) -> None:
        columns = [getattr(ended, name).tolist() for name in Lease.__dataclass_fields__]
        self.rows += [Lease(*row) for row in zip(*columns, strict=True)]

    def spans(self) -> list[tuple[int, int, float, float]]:
        """(job, server, from, until) of each, in the order in which they ended."""
        return [(row.job, row.server, row.from_s, row.until_s) for row in self.rows]


@dataclass(frozen=True)
class Run:
    """What came of a run."""

    table: JobTable
    rounds: RoundsRun
    leases: LeaseLog


def run_jobs(
    table: JobTable,
    demands: Demands,
    pool: ServerPool,
    policy: str | Policy = "fifo",
    mechanism: str | Mechanism = "proportional",
    semantics: RoundSemantics = EXACT,
    *,
    placement: Placement = "best-fit",
    priority_after_s: float | None = None,
    measured: NDArray[np.bool_] | None = None,
    progress: Callable[[int], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    keeps_leases: bool = True,
) -> Run:
    """Run all jobs to their end on the simulated cluster; names are looked up."""
    if isinstance(policy, str):
        policy = POLICIES[policy]()
    if isinstance(mechanism, str):
        mechanism = MECHANISMS[mechanism](demands, pool, placement)
    log = LeaseLog()
    rounds = run_rounds(
        table,
        Scheduler(policy, mechanism, table, demands, pool, priority_after_s),
        SimulatedCluster(table, semantics),
        Leases(table, log if keeps_leases else None),
        semantics.round_s,
        np.ones(len(table), dtype=np.bool_) if measured is None else measured,
        progress,
        stop,
    )
    return Run(table, rounds, log)
