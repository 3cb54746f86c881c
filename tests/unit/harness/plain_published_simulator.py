"""Synergy's published simulator in plain Python, from its description: slow, naive, independent.

Rounds of 300 s; whole iterations in each; jobs come and end only at a round's end; two speeds, one
with the fair share and one with the ideal demand; the policy's order, and GPUs by index.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.unit.harness.scheduling.packing.packing_cases import Job, Servers
from tests.unit.harness.scheduling.packing.plain_packings import PublishedWalk
from traces.sensitivity import TwoPoint, builtin_sensitivities

ROUND_S = 300
GB = 1e9
SYNERGY = builtin_sensitivities("synergy")


@dataclass
class PublishedJob:
    """A job of a trace, and how far it has come."""

    submit_s: float
    model: str
    num_gpus: int
    iterations: int
    done: int = 0
    rounds: int = 0
    last_served_s: float = 0.0
    has_priority: bool = False
    last_iteration_s: float = 0.0
    finish_s: float | None = None

    def __post_init__(self) -> None:
        self.last_served_s = self.submit_s


@dataclass(frozen=True)
class PublishedSimulator:
    """policy: fifo, srtf, las or ftf. tune: or everybody has the fair share.

    priority_after_s: a job that has not been served for so long is before all others thereafter.
    """

    servers: Servers
    policy: str
    tune: bool
    priority_after_s: float = math.inf

    def finish_s(self, jobs: Sequence[PublishedJob]) -> list[float]:
        """When each of ``jobs`` ends, given in the order in which they come."""
        for job in jobs:
            job.last_iteration_s = self._wish(job)[1]
        now_s = 0.0
        while any(job.finish_s is None for job in jobs):
            active = [job for job in jobs if job.finish_s is None and job.submit_s <= now_s]
            ordered = sorted(active, key=lambda job: (not job.has_priority, self._key(job, now_s)))
            for job in active:
                if now_s - job.last_served_s > self.priority_after_s:
                    job.has_priority = True
            speeds = self._decide(self._fitting(ordered))
            for job in active:
                job.last_iteration_s = self._wish(job)[1]
            now_s += ROUND_S
            for job, iteration_s in speeds:
                job.last_iteration_s = iteration_s
                self._run_a_round(job, iteration_s, now_s)
        return [job.finish_s for job in jobs if job.finish_s is not None]

    def _run_a_round(self, job: PublishedJob, iteration_s: float, end_s: float) -> None:
        job.rounds += 1
        job.last_served_s = end_s
        job.done += math.floor(ROUND_S / iteration_s)
        if job.done >= job.iterations:
            job.finish_s = end_s

    def _key(self, job: PublishedJob, now_s: float) -> float:
        remaining_s = (job.iterations - job.done) * job.last_iteration_s
        if self.policy == "fifo":
            return job.submit_s
        if self.policy == "srtf":
            return remaining_s
        if self.policy == "las":
            return job.rounds * ROUND_S * job.num_gpus
        alone_s = job.iterations * self._fair_iteration_s(job)
        return (now_s - job.submit_s + remaining_s) / alone_s

    def _fitting(self, ordered: Sequence[PublishedJob]) -> list[PublishedJob]:
        """Those for which there are GPUs, in order."""
        left = self.servers.all_gpus
        fitting = []
        for job in ordered:
            if job.num_gpus <= left:
                fitting.append(job)
                left -= job.num_gpus
        return fitting

    def _decide(self, fitting: Sequence[PublishedJob]) -> list[tuple[PublishedJob, float]]:
        """Those that run, and their time of an iteration."""
        if not self.tune:
            return [(job, self._fair_iteration_s(job)) for job in fitting]
        wishes = [self._wish(job) for job in fitting]
        wanted = [Job(job.num_gpus, wish) for job, (wish, _) in zip(fitting, wishes, strict=True)]
        walk = PublishedWalk(self.servers, wanted)
        rows = zip(fitting, wishes, walk.places, walk.to_fair, strict=True)
        return [
            (job, self._fair_iteration_s(job) if to_fair else iteration_s)
            for job, (_, iteration_s), place, to_fair in rows
            if place is not None
        ]

    def _fair_iteration_s(self, job: PublishedJob) -> float:
        return self._two_points(job).iteration_s

    def _two_points(self, job: PublishedJob) -> TwoPoint:
        ratio = self.servers.cpus / self.servers.gpus
        (found,) = [
            point for point in SYNERGY.of(job.model, "v100").two_point if point.ratio == ratio
        ]
        return found

    def _wish(self, job: PublishedJob) -> tuple[tuple[float, float, float], float]:
        """(CPUs, GB and storage for each GPU, time of an iteration with them)."""
        point = self._two_points(job)
        fair_cpus = self.servers.cpus / self.servers.gpus
        if not self.tune:
            return (fair_cpus, self.servers.memory / self.servers.gpus, 0.0), point.iteration_s
        together = min(job.num_gpus, self.servers.gpus)
        most_cpus, most_gb = self.servers.cpus / together, self.servers.memory / together
        speedup = point.speedup
        if point.cpus > most_cpus:
            speedup = 1 + (speedup - 1) * (most_cpus - fair_cpus) / (point.cpus - fair_cpus)
        wish = min(point.cpus, most_cpus), min(point.memory_bytes / GB, most_gb), 0.0
        return wish, point.iteration_s / speedup
