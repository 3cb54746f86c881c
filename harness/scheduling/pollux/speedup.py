"""How much faster Pollux thinks that jobs get with more GPUs. Pure."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.job_table import Floats
from harness.scheduling.pollux.goodput import (
    BatchLimits,
    GradientNoise,
    IterationModel,
    best_batch,
)
from traces.compiled import compiled


class Known(Protocol):
    """What is known of how fast a job makes progress, in a unit of its own."""

    def goodputs(self, most_gpus: int, most_on_server: int) -> Floats:
        """(2, GPUs + 1): on one server [0] and on several [1], with up to ``most_gpus``."""
        ...

    def fair_goodput(self, num_gpus: int) -> float:
        """With a fair share of ``num_gpus``; above zero."""
        ...


@dataclass(frozen=True)
class Learned:
    """What a job has learned of itself by training."""

    model: IterationModel
    noise: GradientNoise
    limits: BatchLimits

    def goodputs(self, most_gpus: int, most_on_server: int) -> Floats:
        """Not-a-number on one server with more than ``most_on_server``."""
        return _goodputs(self, most_gpus, most_on_server)

    def fair_goodput(self, num_gpus: int) -> float:
        """As if they were on one server, with as many as the largest batch lets the job use.

        Raises ValueError where its limits allow no batch.
        """
        return _fair(self, num_gpus)


def speedups(
    learned: Sequence[Known | None], most_gpus: Sequence[int], most_on_server: int, all_gpus: int
) -> Floats:
    """(jobs, 2, GPUs + 1): goodput on one server [0] and on several [1], over that of a fair share.

    learned: None for a job that has not yet trained, which is taken to gain with every GPU.
    most_gpus: of each job; what more would give is not-a-number. The fair share is as many of
    ``all_gpus`` for each job, rounded up. Raises ValueError where a job's limits allow no batch.
    """
    fair = math.ceil(all_gpus / len(learned))
    table = np.full((len(learned), 2, max(most_gpus) + 1), np.nan)
    for row, known, most in zip(table, learned, most_gpus, strict=True):
        if known is None:
            row[:, : most + 1] = np.arange(most + 1) / fair
        else:
            row[:, : most + 1] = known.goodputs(most, most_on_server) / known.fair_goodput(fair)
    return table


@functools.lru_cache(maxsize=2**12)
def _goodputs(known: Learned, most_gpus: int, most_on_server: int) -> Floats:
    table = _table(known.model, known.noise, known.limits, most_gpus, most_on_server)
    table.setflags(write=False)
    return table


@functools.lru_cache(maxsize=2**12)
def _fair(known: Learned, num_gpus: int) -> float:
    usable = min(num_gpus, known.limits.largest // known.limits.gpu_least)
    goodput, _ = best_batch(known.model, known.noise, known.limits, usable, False)
    if goodput <= 0:
        raise ValueError(f"{usable} GPUs can train no batch within {known.limits}")
    return goodput


@compiled
def _table(
    model: IterationModel,
    noise: GradientNoise,
    limits: BatchLimits,
    most_gpus: int,
    most_on_server: int,
) -> Floats:
    table = np.full((2, most_gpus + 1), np.nan)
    table[:, 0] = 0.0
    for gpus in range(1, most_gpus + 1):
        if gpus <= most_on_server:
            table[0, gpus] = best_batch(model, noise, limits, gpus, False)[0]
        if gpus > 1:
            table[1, gpus] = best_batch(model, noise, limits, gpus, True)[0]
    return table
