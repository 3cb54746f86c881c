"""Discretised two-dimensional LAS (Tiresias, NSDI'19, section 3.2), as its authors' code keeps it.

Jobs wait in queues by attained GPU time. Inside a queue those that run stand before those that
wait, so that peers never push one another off their GPUs; else the order in which they came holds.
"""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs

QUEUE_LIMITS_GPU_S = (3250.0, 7200.0)
"""Attained GPU time with which a job leaves each queue; the last queue is never left.

The defaults of the code that Tiresias' authors and later comparisons published.
"""


class _Queues:
    """The queues of one run: of each job, its queue and its place among all."""

    def __init__(self) -> None:
        self._queue = np.empty(0, dtype=np.int64)
        self._place = np.empty(0)

    def key(self, active: ActiveJobs) -> Floats:
        if len(self._queue) != len(active.table):
            self._queue = np.zeros(len(active.table), dtype=np.int64)
            self._place = np.full(len(active.table), np.inf)
        jobs = active.jobs
        standing = np.lexsort((self._place[jobs], ~active.runs, self._queue[jobs]))
        self._place[jobs[standing]] = np.arange(len(jobs))
        deserved = np.searchsorted(QUEUE_LIMITS_GPU_S, active.attained_gpu_s, side="right")
        demoted = jobs[deserved > self._queue[jobs]]
        self._queue[jobs] = np.maximum(self._queue[jobs], deserved)
        # At the end of the new queue, in order of submission; so do new jobs stand, by lexsort.
        self._place[demoted] = len(jobs) + np.arange(len(demoted))
        return self._queue[jobs] * (2.0 * len(active.table) + 1) + self._place[jobs]


def tiresias() -> Policy:
    """A policy with empty queues."""
    return Policy(_Queues().key, steady=False)
