"""Shortest remaining service first: remaining time x GPUs (Tiresias, NSDI'19, section 3.1)."""

from __future__ import annotations

from harness.job_table import Floats
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs


def _key(active: ActiveJobs) -> Floats:
    return active.remaining_s * active.num_gpus


SRSF = Policy(_key, steady=True)
