"""A training job of Pollux' simulator: how it progresses on its GPUs, and what it learns of itself.

(OSDI'21, section 5.3.) Times are whole seconds, as in the authors' simulator.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from harness.experiments.reproduce.pollux.applications import Application
from harness.scheduling.pollux.fit import Observation, fit
from harness.scheduling.pollux.goodput import (
    Batch,
    GradientNoise,
    IterationModel,
    best_batch,
    gain,
    split,
)

RESTART_S = 30
"""Without progress, whenever a job is placed anew."""

_remembered_fit = functools.lru_cache(maxsize=2**14)(fit)
"""Jobs of one application begin alike. Of a tuple of observations."""

Held = tuple[tuple[int, int], ...]
"""(server, GPUs) of a job, in the order of its ring."""


@dataclass(frozen=True)
class Submitted:
    """A job as it was submitted. batch: None where the job chooses it."""

    job: str
    submit_s: int
    application: Application
    num_gpus: int
    batch: int | None


class TrainingJob:
    """The state of a job.

    finish_s: None as long as it is not done. attained_gpu_s: GPU time, that of restarts included.
    restarts: how often it was placed anew, beyond the first time. most_gpus_seen: of an iteration.
    """

    def __init__(self, submitted: Submitted) -> None:
        self.submitted = submitted
        self.held: Held = ()
        self.finish_s: int | None = None
        self.attained_gpu_s = 0
        self.restarts = 0
        self.most_gpus_seen = 0
        self.noise: GradientNoise | None = None
        self._batch = Batch(0, 0)
        self._restarting_s = 0
        self._progress = 0.0
        self._epoch = 0
        self._launched = False
        self._observed: dict[tuple[int, int, int], Observation] = {}
        self._model: IterationModel | None = None

    @property
    def model(self) -> IterationModel | None:
        """What it has learned; None before its first iteration."""
        if self._model is None and self._observed:
            self._model = _remembered_fit(tuple(self._observed.values()))
        return self._model

    def place(self, held: Held) -> None:
        """Move to ``held``, or off all GPUs."""
        self.held = held
        if not held:
            return
        self._choose_batch()
        self._restarting_s = RESTART_S
        self.restarts += self._launched
        self._launched = True

    def run(self, start_s: int, seconds: int) -> None:
        """Train for ``seconds`` on the GPUs that it holds."""
        if not self.held:
            return
        application = self.submitted.application
        placement = tuple(gpus for _, gpus in self.held)
        num_gpus = sum(placement)
        left_s = seconds - min(self._restarting_s, seconds)
        self._restarting_s -= seconds - left_s
        while left_s > 0 and self.finish_s is None:
            scale = self._examples(num_gpus) / application.limits.initial
            iteration_s, synchronisation_s = application.times_s(placement, self._batch.per_gpu)
            gradient_s = iteration_s - synchronisation_s
            self.noise = application.noise(self._examples(num_gpus), self._epoch)
            self._observe(len(placement), num_gpus, gradient_s, iteration_s)
            whole_s = iteration_s + gradient_s * self._batch.accumulation_steps
            speed = gain(self.noise, scale) / whole_s
            epoch_ends = application.progress_after(self._epoch + 1)
            if self._progress + speed * left_s < epoch_ends:
                self._progress += speed * left_s
                left_s = 0
            else:
                left_s -= round((epoch_ends - self._progress) / speed)
                self._progress = epoch_ends
                self._epoch += 1
                if self._epoch == application.epochs:
                    self.finish_s = start_s + seconds - left_s
                    break
            self._choose_batch()
        self.attained_gpu_s += num_gpus * (seconds - left_s)

    def _examples(self, num_gpus: int) -> int:
        return num_gpus * self._batch.per_gpu * (self._batch.accumulation_steps + 1)

    def _observe(
        self, num_servers: int, num_gpus: int, gradient_s: float, iteration_s: float
    ) -> None:
        """Remember the first iteration of each kind."""
        kind = num_servers, num_gpus, self._batch.per_gpu
        if kind not in self._observed:
            self._observed[kind] = Observation(*kind, gradient_s, iteration_s)
            self._model = None
            self.most_gpus_seen = max(self.most_gpus_seen, num_gpus)

    def _choose_batch(self) -> None:
        """The batch that was asked for, or else the one with the most goodput by what is known."""
        limits = self.submitted.application.limits
        num_gpus = sum(gpus for _, gpus in self.held)
        if self.submitted.batch is not None:
            batch = split(self.submitted.batch, num_gpus, limits)
        elif self.model is None or self.noise is None:
            least = max(limits.initial, limits.gpu_least * num_gpus)
            batch = split(least, num_gpus, limits)
        else:
            several = len(self.held) > 1
            _, batch = best_batch(self.model, self.noise, limits, num_gpus, several)
        most = limits.largest // (num_gpus * (batch.accumulation_steps + 1))
        self._batch = batch._replace(per_gpu=min(batch.per_gpu, most))
