"""Synergy-GREEDY: first fit of whole wishes; what does not fit waits (Synergy, section 4.4)."""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats, Ints
from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands
from harness.scheduling.mechanisms.mechanism import merge
from harness.scheduling.packing.first_fit import pack_greedily
from harness.scheduling.waiting import ActiveJobs
from traces.server_pool import ServerPool


class Greedy:
    """First fit. Several types of GPU are filled one after the other, in their order."""

    order_matters = True

    def __init__(self, demands: Demands, pool: ServerPool) -> None:
        self._demands = demands
        self._pool = pool

    @property
    def iteration_s_by_kind(self) -> Floats:
        """(kinds,): with the wish, on the type of GPU that suits a job best."""
        fastest: Floats = self._demands.wish_iteration_s.min(axis=1)
        return fastest

    def report(self) -> dict[str, float]:
        """Nothing beyond what the run shows."""
        return {}

    def allocate(self, active: ActiveJobs, order: Ints, before: Allocation) -> Allocation:
        """The next round's allocation."""
        parts = []
        for gpu_type in range(len(self._pool.groups)):
            able = np.isfinite(self._demands.wish_iteration_s[active.kind[order], gpu_type])
            part = self._pack(active, order[able], gpu_type)
            order = order[~np.isin(active.jobs[order], part.jobs)]
            parts.append(part)
        return merge(parts).unless_equal(before)

    def _pack(self, active: ActiveJobs, order: Ints, gpu_type: int) -> Allocation:
        pool = self._pool
        group = pool.groups[gpu_type]
        first, end = int(pool.first_server[gpu_type]), int(pool.first_server[gpu_type + 1])
        wish = self._demands.wish[active.kind, gpu_type]
        run, offsets, servers, gpus = pack_greedily(
            active.num_gpus,
            wish,
            order,
            pool.gpus[first:end].copy(),
            pool.resources[first:end].copy(),
            group.gpus,
            np.array(group.resources),
        )
        walked = Allocation(
            jobs=active.jobs[run],
            gpu_type=np.full(len(run), gpu_type, dtype=np.int64),
            offsets=offsets,
            servers=servers + first,
            gpus=gpus,
            share=wish[run],
            iteration_s=self._demands.wish_iteration_s[active.kind[run], gpu_type],
            held_to_fair_share=np.zeros(len(run), dtype=np.bool_),
        )
        return merge([walked, Allocation.nothing()])  # jobs ascending
