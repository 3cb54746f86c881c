"""Synergy-TUNE and, as the same packing of plainer wishes, the GPU-proportional mechanism.

Synergy (OSDI'22), section 4.3. The jobs that run are chosen by their GPUs alone; each gets its wish
where that fits, and never less throughput than its fair share gives.
"""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats, Ints
from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands
from harness.scheduling.mechanisms.mechanism import PackingTables, Placement, merge
from harness.scheduling.mechanisms.runnable import runnable_jobs
from harness.scheduling.packing.best_fit import pack
from harness.scheduling.packing.held import held_rows
from harness.scheduling.waiting import ActiveJobs
from traces.server_pool import ServerPool


class BestFit:
    """Best fit of wishes (``wishes=True``: TUNE) or of fair shares (proportional)."""

    def __init__(
        self, demands: Demands, pool: ServerPool, placement: Placement, *, wishes: bool
    ) -> None:
        self._balanced = placement == "balanced"
        self._demands = demands
        self._pool = pool
        self._tables = PackingTables.of(demands, pool, wishes=wishes)
        self._wish_iteration_s = demands.wish_iteration_s if wishes else demands.fair_iteration_s

    @property
    def order_matters(self) -> bool:
        """Where there are several types of GPU, the first jobs have their choice."""
        return len(self._pool.groups) > 1

    @property
    def iteration_s_by_kind(self) -> Floats:
        """(kinds,): with the wish, on the type of GPU that suits a job best."""
        fastest: Floats = self._wish_iteration_s.min(axis=1)
        return fastest

    def report(self) -> dict[str, float]:
        """Nothing beyond what the run shows."""
        return {}

    def allocate(self, active: ActiveJobs, order: Ints, before: Allocation) -> Allocation:
        """The next round's allocation; the one before where the same jobs run."""
        chosen, types = runnable_jobs(active, order, before)
        ascending = np.argsort(chosen)
        chosen, types = chosen[ascending], types[ascending]
        jobs, kinds = active.jobs[chosen], active.kind[chosen]
        if np.array_equal(jobs, before.jobs) and np.array_equal(types, before.gpu_type):
            return before
        parts = []
        for gpu_type in range(len(self._pool.groups)):
            mine = types == gpu_type
            parts.append(
                self._pack(jobs[mine], kinds[mine], active.table.num_gpus, gpu_type, before)
            )
        return merge(parts)

    def _pack(
        self, jobs: Ints, kinds: Ints, num_gpus: Ints, gpu_type: int, before: Allocation
    ) -> Allocation:
        pool, tables = self._pool, self._tables
        group = pool.groups[gpu_type]
        first, end = int(pool.first_server[gpu_type]), int(pool.first_server[gpu_type + 1])
        fair = pool.fair_share[gpu_type]
        wish = tables.wish[kinds, gpu_type]
        offsets, servers, gpus, to_fair = pack(
            num_gpus[jobs],
            tables.alike[kinds, gpu_type],
            wish,
            tables.above_fair[kinds, gpu_type],
            fair,
            np.argsort(tables.rank[kinds, gpu_type], kind="stable"),
            *held_rows(
                jobs,
                before.jobs,
                before.offsets,
                before.servers,
                before.gpus.astype(np.int64, copy=False),
                first,
                end,
            ),
            group.count,
            group.gpus,
            np.array(group.resources),
            self._balanced,
        )
        return Allocation(
            jobs=jobs,
            gpu_type=np.full(len(jobs), gpu_type, dtype=np.int64),
            offsets=offsets,
            servers=servers + first,
            gpus=gpus,
            share=np.where(to_fair[:, None], fair, wish),
            iteration_s=np.where(
                to_fair,
                self._demands.fair_iteration_s[kinds, gpu_type],
                self._wish_iteration_s[kinds, gpu_type],
            ),
            held_to_fair_share=to_fair,
        )
