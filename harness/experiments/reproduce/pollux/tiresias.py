"""Tiresias as Pollux' authors compare with it: two queues, and as many GPUs as a job asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.experiments.reproduce.pollux.cluster import SERVER_GPUS
from harness.experiments.reproduce.pollux.job import Held, TrainingJob

QUEUE_LIMIT_GPU_S = 16 * 3600
"""Attained GPU time with which a job leaves the first queue."""


class Tiresias:
    """The queues of one run, by time of arrival in them.

    Whoever fits runs, also before jobs that do not, and keeps its GPUs as long as it runs.
    """

    def __init__(self) -> None:
        self._first: dict[str, None] = {}
        self._second: dict[str, None] = {}
        self._held: dict[str, Held] = {}
        self._ran_s: dict[str, int] = {}
        self._looked_s = 0

    def decide(self, now_s: int, jobs: Sequence[TrainingJob]) -> Mapping[str, Held]:
        """Who holds what from ``now_s`` on."""
        wanted = {job.submitted.job: job.submitted.num_gpus for job in jobs}
        for names in (self._first, self._second, self._held):
            for name in [name for name in names if name not in wanted]:
                del names[name]
        for name in self._held:
            self._ran_s[name] = self._ran_s.get(name, 0) + now_s - self._looked_s
        self._looked_s = now_s
        for name in wanted:
            if name not in self._second:
                self._first.setdefault(name)
                if self._ran_s.get(name, 0) * wanted[name] >= QUEUE_LIMIT_GPU_S:
                    del self._first[name]
                    self._second[name] = None
        free = sum(SERVER_GPUS)
        runs = []
        for name in (*self._first, *self._second):
            if wanted[name] <= free:
                free -= wanted[name]
                runs.append(name)
            else:
                self._held.pop(name, None)
        self._place([name for name in runs if name not in self._held], wanted)
        return self._held

    def _place(self, names: Sequence[str], wanted: Mapping[str, int]) -> None:
        """Fill the server with the most free GPUs, and the next, until a job has all."""
        free = list(SERVER_GPUS)
        for held in self._held.values():
            for server, gpus in held:
                free[server] -= gpus
        for name in names:
            rows = []
            missing = wanted[name]
            while missing:
                server = free.index(max(free))
                gpus = min(free[server], missing)
                rows.append((server, gpus))
                free[server] -= gpus
                missing -= gpus
            self._held[name] = tuple(rows)
