"""Who holds what since when: leases are extended while nothing about them changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.job_table import Flags, Floats, Ints, JobTable
from harness.scheduling.allocation import Allocation
from traces.compiled import compiled


@dataclass(frozen=True)
class EndedLeases:
    """Leases that ended, one row for each job and server; arrays of equal length.

    cpus, memory_bytes, storage_bytes_per_s: what the job's GPUs on this server had together.
    """

    job: Ints
    server: Ints
    gpus: Ints | Floats
    cpus: Floats
    memory_bytes: Floats
    storage_bytes_per_s: Floats
    from_s: Floats
    until_s: Floats
    held_to_fair_share: Flags


class Leases:
    """Follows the allocations of a run. ended: is handed every lease that ends, if it is given."""

    def __init__(self, table: JobTable, ended: Callable[[EndedLeases], None] | None = None) -> None:
        self._table = table
        self._ended = ended
        self._current = Allocation.nothing()
        self._from_s = np.zeros(len(table))

    @property
    def from_s(self) -> Floats:
        """(jobs,): since when each of those holds its lease that hold one."""
        return self._from_s.copy()

    def resume(self, current: Allocation, from_s: Floats) -> None:
        """Go on as if the leases of ``current`` were held already, each since its ``from_s``."""
        self._current = current
        self._from_s = from_s.copy()

    def renew(self, allocation: Allocation, now_s: float) -> Flags:
        """Take over the allocation of the round that begins; return whose leases are new: (n,)."""
        before = self._current
        if allocation is before:
            return np.zeros(len(allocation.jobs), dtype=np.bool_)
        extended, still_held = _extended(*_held(before), *_held(allocation))
        self._report(before, ~still_held, now_s)
        new = ~extended
        self._from_s[allocation.jobs[new]] = now_s
        self._table.leases[allocation.jobs[new]] += 1
        self._current = allocation
        return new

    def close(self, now_s: float) -> None:
        """End all leases: the run is over."""
        self.renew(Allocation.nothing(), now_s)

    def _report(self, before: Allocation, over: Flags, now_s: float) -> None:
        if self._ended is None or not over.any():
            return
        counts = np.diff(before.offsets)
        rows = np.repeat(over, counts)
        job = np.repeat(before.jobs, counts)[rows]
        gpus = before.gpus[rows]
        amounts = np.repeat(before.share, counts, axis=0)[rows] * gpus[:, None]
        end_s = self._table.end_s(job)
        self._ended(
            EndedLeases(
                job=job,
                server=before.servers[rows],
                gpus=gpus,
                cpus=amounts[:, 0],
                memory_bytes=amounts[:, 1],
                storage_bytes_per_s=amounts[:, 2],
                from_s=self._from_s[job],
                until_s=np.fmin(end_s, now_s),
                held_to_fair_share=np.repeat(before.held_to_fair_share, counts)[rows],
            )
        )


def _held(allocation: Allocation) -> tuple[Ints, Ints, Ints, Floats, Floats]:
    """Who holds what, in types that are always the same, so that it is compiled for them alone."""
    return (
        allocation.jobs,
        allocation.offsets,
        np.ascontiguousarray(allocation.servers),
        np.ascontiguousarray(allocation.gpus, dtype=np.float64),
        allocation.share,
    )


@compiled
def _extended(
    before_jobs: Ints,
    before_offsets: Ints,
    before_servers: Ints,
    before_gpus: Floats,
    before_share: Floats,
    jobs: Ints,
    offsets: Ints,
    servers: Ints,
    gpus: Floats,
    share: Floats,
) -> tuple[Flags, Flags]:
    """(jobs after, jobs before): whether a job holds exactly what it held. Both ascending."""
    extended = np.zeros(len(jobs), dtype=np.bool_)
    still_held = np.zeros(len(before_jobs), dtype=np.bool_)
    old = 0
    for new in range(len(jobs)):
        while old < len(before_jobs) and before_jobs[old] < jobs[new]:
            old += 1
        if old == len(before_jobs):
            break
        first, first_before = offsets[new], before_offsets[old]
        count = offsets[new + 1] - first
        if before_jobs[old] != jobs[new] or before_offsets[old + 1] - first_before != count:
            continue
        same = True
        for resource in range(share.shape[1]):
            same = same and share[new, resource] == before_share[old, resource]
        for row in range(count):
            same = same and servers[first + row] == before_servers[first_before + row]
            same = same and gpus[first + row] == before_gpus[first_before + row]
        extended[new] = same
        still_held[old] = same
    return extended, still_held
