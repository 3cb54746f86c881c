"""What a policy is: an order of the active jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.job_table import Floats
from harness.scheduling.waiting import ActiveJobs


@dataclass(frozen=True)
class Policy:
    """An order of jobs: ascending ``key``; equal keys in order of submission.

    key: (jobs,) numbers for the active jobs. steady: as long as no job arrives or ends, the jobs
    that run stay before those that wait, so that the rounds between need no decision.
    """

    key: Callable[[ActiveJobs], Floats]
    steady: bool
