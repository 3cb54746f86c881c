"""The jobs of a run as arrays: what each needs, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

WAYS_TO_LEAVE = ("out-of-memory", "failed")
"""How a job can end without being done."""


@dataclass(frozen=True)
class JobTable:
    """One row a job, in order of submission; all times in seconds since the trace began.

    What each job needs: submit_s; ready_s, from when it may be scheduled (later than submit_s where
    it is profiled first); kind, its row in the Demands; num_gpus; iterations.

    How far it has come: done_iterations; attained_s, time in which it held its GPUs; start_s and
    finish_s, not-a-number before; last_served_s, when it last held GPUs (its arrival before);
    leases, how often it was started on GPUs, CPUs and memory other than those it held.

    What can go wrong where jobs are real processes: requeued, how often its workers were lost and
    it went on from its last checkpoint; left_s, when it ended without being done (not-a-number
    before), and left_as, an index into WAYS_TO_LEAVE.
    """

    submit_s: Floats
    ready_s: Floats
    kind: Ints
    num_gpus: Ints
    iterations: Floats
    done_iterations: Floats
    attained_s: Floats
    start_s: Floats
    finish_s: Floats
    last_served_s: Floats
    leases: Ints
    requeued: Ints
    left_s: Floats
    left_as: Ints

    @staticmethod
    def of(
        submit_s: Floats,
        kind: Ints,
        num_gpus: Ints,
        iterations: Floats,
        profiling_s: float = 0.0,
    ) -> JobTable:
        """Jobs of which none has run. profiling_s: how long a new job is profiled elsewhere."""
        count = len(submit_s)
        ready_s = submit_s + profiling_s
        return JobTable(
            submit_s=submit_s,
            ready_s=ready_s,
            kind=kind,
            num_gpus=num_gpus,
            iterations=iterations,
            done_iterations=np.zeros(count),
            attained_s=np.zeros(count),
            start_s=np.full(count, np.nan),
            finish_s=np.full(count, np.nan),
            last_served_s=ready_s.copy(),
            leases=np.zeros(count, dtype=np.int64),
            requeued=np.zeros(count, dtype=np.int64),
            left_s=np.full(count, np.nan),
            left_as=np.zeros(count, dtype=np.int64),
        )

    def end_s(self, jobs: Ints) -> Floats:
        """When each of ``jobs`` ended, done or not; not-a-number before."""
        return np.fmin(self.finish_s[jobs], self.left_s[jobs])

    def __len__(self) -> int:
        return len(self.submit_s)
