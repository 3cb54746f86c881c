"""SRTF and FTF as Synergy's published simulator orders them. For comparison with its results only.

Both take a job's remaining time at the speed of the round before (a job that was held to its fair
share looks longer than it is), and FTF puts the job that suffers *least* first.
"""

from __future__ import annotations

from harness.job_table import Floats
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs


def _remaining_s(active: ActiveJobs) -> Floats:
    return active.remaining_iterations * active.last_iteration_s


def _finish_time(active: ActiveJobs) -> Floats:
    return (active.now_s - active.submit_s + _remaining_s(active)) / active.alone_s


SRTF_PUBLISHED = Policy(_remaining_s, steady=False)
FTF_PUBLISHED = Policy(_finish_time, steady=False)
