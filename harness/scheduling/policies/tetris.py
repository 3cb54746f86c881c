"""Tetris (SIGCOMM'14): the least remaining work first, counted over all resources.

Remaining time x the sum of the job's shares of the cluster. Tetris' other half, alignment with what
a server has free, is the placement's.
"""

from __future__ import annotations

from harness.job_table import Floats
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs


def _key(active: ActiveJobs) -> Floats:
    work: Floats = active.remaining_s * active.share_of_cluster.sum(axis=1)
    return work


TETRIS = Policy(_key, steady=True)
