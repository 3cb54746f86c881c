"""Finish-time fairness (Themis, NSDI'20, section 3.2): how much longer than its due a job takes.

The due of a job is what it would take on a cluster of its own with one Nth of the GPUs, N being the
number of jobs that contend. Which N, and what a job does with a share larger than it needs, is as
in public simulators of Themis: the mean over the life of the job, and nothing (T_id = service /
min(GPUs / N, demand)).
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.scheduling.placed.policy import WaitingJob


def finish_time_ratio(job: WaitingJob, now_s: float, contention: float, num_gpus: int) -> float:
    """rho = T_shared / T_independent; the larger, the worse ``job`` fares.

    T_shared = now - submission + iterations left x dedicated time of an iteration: what it will
    have taken if it runs from now on, with every link to itself, as the policy knows of no network.
    T_independent = all iterations x dedicated time x max(1, contention x workers / GPUs): with
    fewer GPUs than workers it is slower in proportion.

    contention: number of jobs, itself included. num_gpus: of the cluster.
    """
    left_s = job.iterations_left * job.dedicated_iteration_s
    done_s = job.iterations_done * job.dedicated_iteration_s
    shared_s = now_s - job.submit_s + left_s
    return shared_s / ((done_s + left_s) * max(1.0, contention * job.workers / num_gpus))


class Contention:
    """How many jobs each job has been one of, on average since it was submitted."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, float]] = {}

    def means(self, jobs: Sequence[WaitingJob], now_s: float) -> dict[str, float]:
        """Of each of ``jobs``, which are all that contend; those that are gone are forgotten.

        Since the call before, or its submission if that was later, a job counts as one of as many
        as there are now.
        """
        known = {}
        for job in jobs:
            job_seconds, until_s = self._known.get(job.id, (0.0, job.submit_s))
            known[job.id] = job_seconds + len(jobs) * (now_s - until_s), now_s
        self._known = known
        return {
            job.id: known[job.id][0] / (now_s - job.submit_s)
            if now_s > job.submit_s
            else float(len(jobs))
            for job in jobs
        }
