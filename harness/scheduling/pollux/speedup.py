"""How much faster Pollux thinks that jobs get with more GPUs. Pure."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.compiled import compiled
from harness.job_table import Floats
from harness.scheduling.pollux.goodput import (
    BatchLimits,
    GradientNoise,
    IterationModel,
    best_batch,
)


@dataclass(frozen=True)
class Learned:
    """What a job has learned of itself by training."""

    model: IterationModel
    noise: GradientNoise
    limits: BatchLimits


def speedups(
    learned: Sequence[Learned | None], most_gpus: Sequence[int], most_on_server: int, all_gpus: int
) -> Floats:
    """(jobs, 2, GPUs + 1): goodput on one server [0] and on several [1], over that of a fair share.

    learned: None for a job that has not yet trained, which is taken to gain with every GPU.
    most_gpus: of each job; what more would give is not-a-number, and so is one server with more
    than ``most_on_server``. The fair share is as many of ``all_gpus`` for each job, rounded up, as
    if they were on one server. Raises ValueError where a job's limits allow no batch.
    """
    fair = math.ceil(all_gpus / len(learned))
    table = np.full((len(learned), 2, max(most_gpus) + 1), np.nan)
    for row, known, most in zip(table, learned, most_gpus, strict=True):
        if known is None:
            row[:, : most + 1] = np.arange(most + 1) / fair
        else:
            row[:, : most + 1] = _goodputs(known, most, most_on_server) / _fair(known, fair)
    return table


@functools.lru_cache(maxsize=2**12)
def _goodputs(known: Learned, most_gpus: int, most_on_server: int) -> Floats:
    table = _table(known.model, known.noise, known.limits, most_gpus, most_on_server)
    table.setflags(write=False)
    return table


@functools.lru_cache(maxsize=2**12)
def _fair(known: Learned, num_gpus: int) -> float:
    """Goodput with as many of ``num_gpus`` on one server as the largest batch lets a job use."""
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
