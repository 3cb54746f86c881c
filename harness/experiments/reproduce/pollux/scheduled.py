"""Pollux' policy on the jobs of its simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.experiments.reproduce.pollux.cluster import SERVER_GPUS
from harness.experiments.reproduce.pollux.job import RESTART_S, Held, TrainingJob
from harness.job_table import Ints
from harness.scheduling.pollux.policy import Job, Pollux
from harness.scheduling.pollux.speedup import Learned

_MOST_GPUS = 64


class ScheduledByPollux:
    """One run's policy. one_gpu: applications whose jobs stay on one GPU."""

    def __init__(self, seed: int, one_gpu: frozenset[str]) -> None:
        self._policy = Pollux(SERVER_GPUS, seed, RESTART_S)
        self._one_gpu = one_gpu

    def decide(self, now_s: int, jobs: Sequence[TrainingJob]) -> Mapping[str, Held]:
        """Who holds what from ``now_s`` on."""
        chosen = self._policy.decide([self._described(now_s, job) for job in jobs]).chosen
        return {job: _held(row) for job, row in chosen.items()}

    def _described(self, now_s: int, job: TrainingJob) -> Job:
        submitted = job.submitted
        learned = None
        if job.model is not None and job.noise is not None:
            learned = Learned(job.model, job.noise, submitted.application.limits)
        return Job(
            job=submitted.job,
            age_s=now_s - submitted.submit_s,
            attained_gpu_s=job.attained_gpu_s,
            restarts=job.restarts,
            most_gpus=self._most_gpus(job),
            learned=learned,
            held=_row(job.held),
        )

    def _most_gpus(self, job: TrainingJob) -> int:
        """A job may try twice as many GPUs as it has trained on."""
        application = job.submitted.application
        if application.folder.name in self._one_gpu:
            return 1
        limits = application.limits
        tried = max(2 * job.most_gpus_seen, 1)
        return min(tried, _MOST_GPUS, limits.largest // limits.gpu_least)


def _row(held: Held) -> Ints | None:
    if not held:
        return None
    row = np.zeros(len(SERVER_GPUS), dtype=np.int64)
    for server, gpus in held:
        row[server] = gpus
    return row


def _held(row: Ints) -> Held:
    return tuple((int(server), int(row[server])) for server in np.flatnonzero(row))
