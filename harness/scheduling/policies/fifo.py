"""First in, first out."""

from __future__ import annotations

from harness.job_table import Floats
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs


def _key(active: ActiveJobs) -> Floats:
    return active.submit_s


FIFO = Policy(_key, steady=True)
