"""Least attained service first: the job that has had the least GPU time."""

from __future__ import annotations

from harness.job_table import Floats
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs


def _key(active: ActiveJobs) -> Floats:
    return active.attained_gpu_s


LAS = Policy(_key, steady=False)
