"""The jobs that run in a round, chosen by their GPUs alone, each with its type of GPU."""

from __future__ import annotations

import numpy as np

from harness.job_table import Ints
from harness.scheduling.allocation import Allocation
from harness.scheduling.packing.select import select_jobs, select_types
from harness.scheduling.waiting import ActiveJobs


def runnable_jobs(active: ActiveJobs, order: Ints, before: Allocation) -> tuple[Ints, Ints]:
    """(positions in ``active``, types of GPU) of the jobs that run, in the policy's order."""
    pool = active.pool
    if len(pool.groups) == 1:
        chosen = select_jobs(active.num_gpus, order, pool.num_gpus)
        return chosen, np.zeros(len(chosen), dtype=np.int64)
    held_type = np.full(len(active.table), -1, dtype=np.int64)
    held_type[before.jobs] = before.gpu_type
    free_gpus = np.array([group.count * group.gpus for group in pool.groups], dtype=np.int64)
    return select_types(
        active.num_gpus,
        active.demands.fair_iteration_s[active.kind],
        held_type[active.jobs],
        order,
        free_gpus,
    )
