"""First fit that passes over what does not fit: Synergy-GREEDY, its strawman (section 4.4)."""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats, Ints
from harness.scheduling.packing.servers import fits, placeable, take
from traces.compiled import compiled


@compiled
def pack_greedily(
    num_gpus: Ints,
    wish: Floats,
    order: Ints,
    free_gpus: Ints,
    free: Floats,
    server_gpus: int,
    size: Floats,
) -> tuple[Ints, Ints, Ints, Ints]:
    """Walk the jobs in the policy's order; each gets its whole wish on the first servers, or waits.

    num_gpus: (jobs,). wish: (jobs, RESOURCES) per GPU. order: (jobs,) positions. free_gpus, free:
    of each server, are used up. Returns (jobs that run, their rows' offsets, servers, gpus), in the
    order of the walk. A job that fits on one server is not spread.
    """
    total = free_gpus.sum()
    run = np.empty(len(order), dtype=np.int64)
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    servers = np.empty(total, dtype=np.int64)
    gpus = np.empty(total, dtype=np.int64)
    rooms = np.empty(len(free_gpus), dtype=np.int64)
    count, rows, left_in_all = 0, 0, total
    for job in order:
        if num_gpus[job] > left_in_all:
            continue
        first = rows
        if num_gpus[job] <= server_gpus:
            for server in range(len(free_gpus)):
                if fits(num_gpus[job], wish[job], server, free_gpus, free, size):
                    servers[rows], gpus[rows] = server, num_gpus[job]
                    rows += 1
                    break
        else:
            room = 0
            for server in range(len(free_gpus)):
                rooms[server] = placeable(wish[job], server, free_gpus, free, size)
                room += rooms[server]
            left = num_gpus[job] if room >= num_gpus[job] else 0
            for server in range(len(free_gpus)):
                part = min(left, rooms[server])
                if part > 0:
                    servers[rows], gpus[rows] = server, part
                    rows += 1
                    left -= part
        if rows == first:
            continue
        for row in range(first, rows):
            take(gpus[row], wish[job], servers[row], free_gpus, free)
        left_in_all -= num_gpus[job]
        run[count] = job
        count += 1
        offsets[count] = rows
        if left_in_all == 0:
            break
    return run[:count], offsets[: count + 1], servers[:rows], gpus[:rows]
