"""Pollux' policy: placements of all jobs that make the cluster progress most and fairly.

(OSDI'21, section 4.2.) The search goes on every time from the placements with which it ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.job_table import Floats, Ints
from harness.scheduling.pollux.candidates import held_equal, is_held_equal
from harness.scheduling.pollux.placements import Placements, Problem
from harness.scheduling.pollux.search import Population, search
from harness.scheduling.pollux.speedup import Known, speedups


@dataclass(frozen=True)
class Job:
    """A job that is there. age_s: since it was submitted. attained_gpu_s: GPU time that it had.
    restarts: how often it was placed anew. most_gpus: that it may get. learned: None before it has
    trained. held: GPUs on each server, (servers,); None where it holds none.
    """

    job: str
    age_s: float
    attained_gpu_s: float
    restarts: int
    most_gpus: int
    learned: Known | None
    held: Ints | None


@dataclass(frozen=True)
class Decision:
    """What the search ended with. jobs: ids, the rows of each placement."""

    jobs: tuple[str, ...]
    problem: Problem
    population: Population

    @property
    def chosen(self) -> dict[str, Ints]:
        """(servers,) GPUs of each job, of the placement with the highest fitness."""
        return self._by_job(self.population.placements[self.population.best])

    def held_equal(
        self, most: int, tolerance: float, rng: np.random.Generator
    ) -> list[dict[str, Ints]]:
        """Up to ``most`` placements, the chosen one first; see `candidates.held_equal`."""
        found = held_equal(self.problem, self.population, most, tolerance, rng)
        return [self._by_job(placement) for placement in found]

    def holds_equal(self, placement: Mapping[str, Ints], tolerance: float) -> bool:
        """Whether a placement from elsewhere could be among them; see `candidates.is_held_equal`.

        Jobs that are not in it hold nothing.
        """
        rows = np.zeros_like(self.problem.held)
        for row, job in enumerate(self.jobs):
            if job in placement:
                rows[row] = placement[job]
        return is_held_equal(self.problem, self.population, rows, tolerance)

    def _by_job(self, placement: Placements) -> dict[str, Ints]:
        return dict(zip(self.jobs, placement.astype(np.int64), strict=True))


class Pollux:
    """The policy for one cluster. A seed repeats its decisions.

    server_gpus: of each server. restart_s: what a job is taken to lose whenever it is placed anew.
    """

    def __init__(self, server_gpus: Sequence[int], seed: int, restart_s: float) -> None:
        self._server_gpus = np.array(server_gpus, dtype=np.int64)
        self._rng = np.random.default_rng(seed)
        self._restart_s = restart_s
        self._last: Decision | None = None

    def decide(self, jobs: Sequence[Job]) -> Decision:
        """Place ``jobs``, of which there is at least one. Equal ones keep their order."""
        order = sorted(jobs, key=lambda job: (job.attained_gpu_s, -job.age_s))
        problem = self._problem(order)
        start = self._start([job.job for job in order], problem.held)
        population = search(problem, start, self._rng)
        self._last = Decision(tuple(job.job for job in order), problem, population)
        return self._last

    def _problem(self, jobs: Sequence[Job]) -> Problem:
        nobody = np.zeros(len(self._server_gpus), dtype=np.int16)
        all_gpus = int(self._server_gpus.sum())
        most_gpus = [min(job.most_gpus, all_gpus) for job in jobs]
        return Problem(
            server_gpus=self._server_gpus,
            held=np.array([nobody if job.held is None else job.held for job in jobs], np.int16),
            speedup=speedups(
                [job.learned for job in jobs], most_gpus, int(self._server_gpus.max()), all_gpus
            ),
            moved=_part_after_restart(jobs, self._restart_s),
            most_gpus=np.array(most_gpus),
        )

    def _start(self, names: Sequence[str], held: Placements) -> Placements:
        """What the search begins with: the last placements without jobs that have left, and with
        nothing for those that have come; and what is held, which may be none of them.
        """
        if self._last is None:
            return held[np.newaxis]
        last = self._last.population.placements[self._last.population.front == 0]
        rows: Mapping[str, int] = {name: row for row, name in enumerate(self._last.jobs)}
        start = np.zeros((len(last), *held.shape), dtype=np.int16)
        for row, name in enumerate(names):
            if name in rows:
                start[:, row] = last[:, rows[name]]
        return np.concatenate((start, held[np.newaxis]))


def _part_after_restart(jobs: Sequence[Job], restart_s: float) -> Floats:
    """(jobs,) the part of its time that each will have trained if it is restarted once more."""
    age_s = np.array([job.age_s for job in jobs])
    lost_s = restart_s * np.array([job.restarts for job in jobs])
    part: Floats = np.maximum(age_s - lost_s, 0.0) / (age_s + restart_s)
    return part
