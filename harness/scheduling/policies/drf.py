"""Dominant resource fairness over jobs (NSDI'11): the smallest dominant share first.

Jobs get all that they wish for or nothing, so that filling the lowest share first is this order.
"""

from __future__ import annotations

from harness.job_table import Floats
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs


def _key(active: ActiveJobs) -> Floats:
    dominant: Floats = active.share_of_cluster.max(axis=1)
    return dominant


DRF = Policy(_key, steady=True)
