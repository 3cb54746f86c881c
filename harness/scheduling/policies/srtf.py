"""Shortest remaining time first."""

from __future__ import annotations

from harness.job_table import Floats
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs


def _key(active: ActiveJobs) -> Floats:
    return active.remaining_s


SRTF = Policy(_key, steady=True)
"""Steady: jobs that run come closer to their end, those that wait do not."""
