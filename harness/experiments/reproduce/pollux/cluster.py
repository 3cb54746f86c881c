"""The cluster of Pollux' simulator: every minute a policy places the jobs that are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from harness.experiments.reproduce.pollux.job import Held, Submitted, TrainingJob
from harness.job_table import Ints

SERVER_GPUS = (4,) * 16
INTERVAL_S = 60

Decide = Callable[[int, Sequence[TrainingJob]], Mapping[str, Held]]
"""From the time in s and the jobs that are there, in order of submission, to what each holds from
then on; a job that is left out holds nothing."""


def completion_times_s(
    submitted: Sequence[Submitted], decide: Decide, say: Callable[[int, int], None] | None = None
) -> Ints:
    """(jobs,) completion times. say: is told the time in s and how many jobs are done, every round.

    A decision moves a job whenever it says anything other than what the job holds, if only in the
    order of its servers.
    """
    jobs = [TrainingJob(each) for each in submitted]
    now_s = 0
    while waiting := [job for job in jobs if job.finish_s is None]:
        for job in waiting:
            job.run(now_s, INTERVAL_S)
        now_s += INTERVAL_S
        there = [job for job in waiting if job.finish_s is None and job.submitted.submit_s <= now_s]
        if there:
            placed = decide(now_s, there)
            for job in there:
                held = placed.get(job.submitted.job, ())
                if held != job.held:
                    job.place(held)
        if say:
            say(now_s, sum(job.finish_s is not None for job in jobs))
    return np.array([(job.finish_s or 0) - job.submitted.submit_s for job in jobs])
