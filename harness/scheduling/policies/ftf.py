"""Finish-time fairness (Themis, NSDI'20, section 3): the job that suffers most comes first.

rho is the time that a job will have taken if it runs from now on, over the time that it takes
alone. Themis multiplies the latter by the number of contending jobs, which is the same for all of
them and leaves their order as it is.
"""

from __future__ import annotations

from harness.job_table import Floats
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs


def _key(active: ActiveJobs) -> Floats:
    shared_s = active.now_s - active.submit_s + active.remaining_s
    return -shared_s / active.alone_s


FTF = Policy(_key, steady=False)
