"""Pollux (OSDI'21, section 4.2) for jobs on a network: how many workers each has, and where.

The batch on each GPU stays what the scenario says, for profiles are made for one; with more workers
an iteration has more samples. How much less the samples of a larger batch advance a model is not
known of the jobs of a scenario, so that all count alike: goodput is throughput. It is not learned
by trial, but known from profiles, of iterations that share no link. So a job may have at once as
many GPUs as its model allows; by trial it would grow to twice as many at most as it has tried.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.job_table import Ints
from harness.scheduling.placed.candidates import DRAWS, candidates, told_apart
from harness.scheduling.placed.leaves import leaves_of
from harness.scheduling.placed.policy import GpuServers, Placement, Rounds, WaitingJob
from harness.scheduling.placed.profiled import Profiled
from harness.scheduling.pollux.policy import Decision, Job, Pollux

TOLERANCE = 0.05
"""Of the fitness: how much less it may be for placements between which the network decides. An
assumption, as CASSINI's paper gives none."""


class PolluxPlacement:
    """The policy for one run on ``servers``. A seed repeats its decisions.

    Jobs that need more GPUs than there are never run.
    """

    def __init__(self, servers: GpuServers, rounds: Rounds, seed: int) -> None:
        self._servers = servers
        self._names = servers.cluster.servers
        self._leaves = leaves_of(servers.cluster)
        self._round_s = rounds.round_s
        self._policy = Pollux(
            [servers.gpus[server] for server in self._names], seed, rounds.restart_s
        )
        self._rng = np.random.default_rng(seed)
        self._had: dict[str, tuple[float, float]] = {}  # GPU time, and attained_s, as of that call

    def placements(self, jobs: Sequence[WaitingJob], now_s: float, most: int) -> list[Placement]:
        """Up to ``most`` placements, the fittest first, and then others nearly as fit.

        First come those that place otherwise only the jobs which its own choice starts or moves.
        Others may move more of them, and differ in how many workers a job has.
        """
        fitting = {job.id: job for job in jobs if job.choices[0].workers <= self._servers.num_gpus}
        self._had = {job.id: (self._gpu_s_of(job), job.attained_s) for job in fitting.values()}
        if not fitting:
            return [{}]
        decision = self._policy.decide([self._described(job, now_s) for job in fitting.values()])
        chosen = self._placement(fitting, decision.chosen)
        if most == 1:
            return [chosen]
        equal = itertools.chain(
            [chosen],
            self._packed_otherwise(fitting, chosen, decision, most),
            self._nearly_as_fit(fitting, decision, most),
        )
        return told_apart(equal, self._leaves, most)

    def _packed_otherwise(
        self, jobs: Mapping[str, WaitingJob], chosen: Placement, decision: Decision, most: int
    ) -> Iterator[Placement]:
        """``chosen`` with the jobs that it starts or moves on other GPUs, as many of them.

        Its search draws servers one by one, and so seldom has a job behind one leaf.
        """
        starting = {job: at for job, at in chosen.items() if jobs[job].servers != at}
        packed = candidates(
            jobs=[replace(jobs[job], workers=len(at)) for job, at in starting.items()],
            kept={job: at for job, at in chosen.items() if job not in starting},
            servers=self._servers,
            leaves=self._leaves,
            most=most,
            rng=self._rng,
        )
        for placement in packed:
            if decision.holds_equal(
                {job: self._row(placement[job]) for job in placement}, TOLERANCE
            ):
                yield placement

    def _nearly_as_fit(
        self, jobs: Mapping[str, WaitingJob], decision: Decision, most: int
    ) -> Iterator[Placement]:
        for gpus in decision.held_equal(DRAWS * most, TOLERANCE, self._rng):
            yield self._placement(jobs, gpus)

    def _gpu_s_of(self, job: WaitingJob) -> float:
        """GPU time that it had. Since the call before it has been where it is now."""
        gpu_s, attained_s = self._had.get(job.id, (0.0, 0.0))
        return gpu_s + len(job.servers) * (job.attained_s - attained_s)

    def _described(self, job: WaitingJob, now_s: float) -> Job:
        """Its age is that at the end of the round: a job that came just now would count for
        nothing, as one that loses all its time to the restart."""
        return Job(
            job=job.id,
            age_s=now_s + self._round_s - job.submit_s,
            attained_gpu_s=self._had[job.id][0],
            restarts=max(job.starts - 1, 0),
            most_gpus=job.choices[-1].workers,
            learned=Profiled(job.choices),
            held=self._row(job.servers) if job.servers else None,
        )

    def _row(self, servers: Sequence[str]) -> Ints:
        held = Counter(servers)
        return np.array([held[server] for server in self._names])

    def _placement(self, jobs: Mapping[str, WaitingJob], gpus: Mapping[str, Ints]) -> Placement:
        placed = {job: self._by_rank(jobs[job], row) for job, row in gpus.items()}
        return {job: servers for job, servers in placed.items() if servers}

    def _by_rank(self, job: WaitingJob, gpus: Ints) -> tuple[str, ...]:
        """Of the most workers that the job may have on ``gpus``, (servers,); () where on none.

        GPUs beyond that are given back on the servers where it has the fewest.
        """
        left = int(gpus.sum())
        workers = max((c.workers for c in job.choices if c.workers <= left), default=0)
        taken: Counter[str] = Counter()
        for number in sorted(np.flatnonzero(gpus), key=lambda number: -gpus[number]):
            here = min(int(gpus[number]), workers)
            if here:
                taken[self._names[number]] = here
            workers -= here
        return self._leaves.by_rank(taken)
