"""What chosen jobs held before, out of an allocation."""

from __future__ import annotations

import numpy as np

from harness.job_table import Ints
from traces.compiled import compiled


@compiled
def held_rows(
    jobs: Ints,
    before_jobs: Ints,
    before_offsets: Ints,
    before_servers: Ints,
    before_gpus: Ints,
    first_server: int,
    end_server: int,
) -> tuple[Ints, Ints, Ints]:
    """(offsets, servers, gpus) of ``jobs`` in the allocation before; both ascending.

    Only servers from first_server up to end_server count, and are numbered from 0.
    """
    offsets = np.zeros(len(jobs) + 1, dtype=np.int64)
    servers = np.empty(len(before_servers), dtype=np.int64)
    gpus = np.empty(len(before_servers), dtype=np.int64)
    before, rows = 0, 0
    for position in range(len(jobs)):
        while before < len(before_jobs) and before_jobs[before] < jobs[position]:
            before += 1
        if before < len(before_jobs) and before_jobs[before] == jobs[position]:
            for row in range(before_offsets[before], before_offsets[before + 1]):
                if first_server <= before_servers[row] < end_server:
                    servers[rows] = before_servers[row] - first_server
                    gpus[rows] = before_gpus[row]
                    rows += 1
        offsets[position + 1] = rows
    return offsets, servers[:rows], gpus[:rows]
