"""TUNE with the published simulator's walk. For comparison with its results only."""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats, Ints
from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands
from harness.scheduling.mechanisms.mechanism import merge
from harness.scheduling.mechanisms.runnable import runnable_jobs
from harness.scheduling.packing.published_walk import walk
from harness.scheduling.waiting import ActiveJobs
from traces.server_pool import ServerPool


class PublishedTune:
    """packing.published_walk as a mechanism; one type of GPU only."""

    order_matters = True

    def __init__(self, demands: Demands, pool: ServerPool) -> None:
        if len(pool.groups) > 1:
            raise ValueError("the published simulator knows one type of GPU")
        self._demands = demands
        self._pool = pool

    @property
    def iteration_s_by_kind(self) -> Floats:
        """(kinds,): with the wish."""
        return self._demands.wish_iteration_s[:, 0]

    def report(self) -> dict[str, float]:
        """Nothing beyond what the run shows."""
        return {}

    def allocate(self, active: ActiveJobs, order: Ints, before: Allocation) -> Allocation:
        """The next round's allocation."""
        chosen, _ = runnable_jobs(active, order, before)
        pool, demands = self._pool, self._demands
        kinds = active.kind[chosen]
        wish, fair = demands.wish[kinds, 0], pool.fair_share[0]
        placed, offsets, servers, gpus, to_fair = walk(
            active.num_gpus[chosen],
            wish,
            demands.above_fair[kinds, 0],
            fair,
            pool.gpus.copy(),
            pool.resources.copy(),
            np.array(pool.groups[0].resources),
        )
        seconds = np.where(
            to_fair, demands.fair_iteration_s[kinds, 0], demands.wish_iteration_s[kinds, 0]
        )
        counts = np.diff(offsets)[placed]
        walked = Allocation(
            jobs=active.jobs[chosen[placed]],
            gpu_type=np.zeros(int(placed.sum()), dtype=np.int64),
            offsets=np.concatenate(([0], np.cumsum(counts))),
            servers=servers,
            gpus=gpus,
            share=np.where(to_fair[:, None], fair, wish)[placed],
            iteration_s=seconds[placed],
            held_to_fair_share=to_fair[placed],
        )
        ascending = merge([walked, Allocation.nothing()])
        return ascending.unless_equal(before)
