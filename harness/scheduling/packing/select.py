"""Which jobs run: the first ones, in the policy's order, whose GPUs there are."""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats, Ints
from traces.compiled import compiled


@compiled
def select_jobs(num_gpus: Ints, order: Ints, free_gpus: int) -> Ints:
    """Positions, in order, of the jobs whose GPU demand can be met, whatever else they wish for.

    num_gpus: (jobs,). order: (jobs,) positions. A job that does not fit any more is passed over
    (Synergy, section 4: the runnable jobs).
    """
    chosen = np.empty(len(order), dtype=np.int64)
    count = 0
    for position in order:
        if num_gpus[position] <= free_gpus:
            chosen[count] = position
            count += 1
            free_gpus -= num_gpus[position]
            if free_gpus == 0:
                break
    return chosen[:count]


@compiled
def select_types(
    num_gpus: Ints, iteration_s: Floats, held_type: Ints, order: Ints, free_gpus: Ints
) -> tuple[Ints, Ints]:
    """(positions, types of GPU) of the jobs that run where there are several types.

    iteration_s: (jobs, types) at the fair share, infinite where a job cannot run. held_type:
    (jobs,), the type that a job held before, or -1. Each job in order takes the type on which its
    fair share is fastest among those with enough free GPUs; among equally fast ones the type that
    it held, then the first. free_gpus: (types,), is used up.
    """
    chosen = np.empty(len(order), dtype=np.int64)
    types = np.empty(len(order), dtype=np.int64)
    count = 0
    for position in order:
        best = -1
        for gpu_type in range(len(free_gpus)):
            seconds = iteration_s[position, gpu_type]
            if num_gpus[position] > free_gpus[gpu_type] or seconds == np.inf:
                continue
            if (
                best < 0
                or seconds < iteration_s[position, best]
                or (seconds == iteration_s[position, best] and gpu_type == held_type[position])
            ):
                best = gpu_type
        if best >= 0:
            chosen[count] = position
            types[count] = best
            count += 1
            free_gpus[best] -= num_gpus[position]
    return chosen[:count], types[:count]
