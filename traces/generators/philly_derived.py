"""Gavel's "Philly-derived" jobs, on which Synergy's figures rest too: Poisson arrivals.

Durations, in minutes: 10^U(1.5, 3) for four jobs of five, 10^U(3, 4) for the fifth; 16.8 h in the
mean. They are durations at the GPU-proportional share. GPUs: 1, or Gavel's mix of 1, 2, 4 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from traces.generators.models import draw_models
from traces.job_trace import JobTrace, checked_trace
from traces.sensitivity import Sensitivities

GpuMix = Literal["single", "gavel"]

GPU_MIXES: Mapping[GpuMix, Mapping[int, float]] = {
    "single": {1: 1.0},
    "gavel": {1: 0.70, 2: 0.10, 4: 0.15, 8: 0.05},
}

_SHORT_SHARE = 0.8
_SHORT, _LONG = (1.5, 3.0), (3.0, 4.0)  # exponents of ten, of minutes


def mean_duration_s() -> float:
    """Mean duration of a job: that of 10^U(a, b) is (10^b - 10^a) / ((b - a) ln 10)."""

    def mean_minutes(low: float, high: float) -> float:
        return float((10**high - 10**low) / ((high - low) * np.log(10)))

    return 60 * (_SHORT_SHARE * mean_minutes(*_SHORT) + (1 - _SHORT_SHARE) * mean_minutes(*_LONG))


def mean_gpus(mix: GpuMix) -> float:
    """Mean number of GPUs of a job."""
    return sum(gpus * share for gpus, share in GPU_MIXES[mix].items())


def jobs_per_hour_at(load: float, num_gpus: int, mix: GpuMix) -> float:
    """Arrivals for which the GPU time asked for is ``load`` (rho) times what there is."""
    return load * num_gpus * 3600 / (mean_duration_s() * mean_gpus(mix))


def philly_derived(
    count: int,
    jobs_per_hour: float,
    mix: GpuMix,
    split: Mapping[str, float],
    sensitivities: Sensitivities | None,
    seed: int,
) -> JobTrace:
    """``count`` jobs; without models where no profiles are given.

    Two traces with the same seed begin with the same jobs, whatever their counts. Every property
    has a random stream of its own, so that the same jobs arrive at another load.
    """
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(5)]
    gaps, lengths, exponents, sizes, models = streams
    short = lengths.random(count) < _SHORT_SHARE
    low = np.where(short, _SHORT[0], _LONG[0])
    high = np.where(short, _SHORT[1], _LONG[1])
    gpus, chances = zip(*GPU_MIXES[mix].items(), strict=True)
    frame = pd.DataFrame(
        {
            "job": [f"job-{number}" for number in range(count)],
            "submit_s": np.cumsum(gaps.exponential(3600 / jobs_per_hour, count)),
            "num_gpus": sizes.choice(gpus, size=count, p=chances),
            "duration_s": 60 * 10 ** (low + (high - low) * exponents.random(count)),
            "line": np.zeros(count, dtype=np.int64),
        }
    )
    if sensitivities is not None:
        frame["model"] = draw_models(count, split, sensitivities, models)
    weights = ", ".join(f"{kind} {weight:g}" for kind, weight in split.items())
    words = (
        f"Philly-derived jobs, {jobs_per_hour:.6g} an hour, GPU mix {mix!r}, "
        f"{f'split {weights}' if weights else 'without models'}, seed {seed}"
    )
    return checked_trace(frame, source=words, format="generated")
