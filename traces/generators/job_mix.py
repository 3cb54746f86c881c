"""Jobs whose arrivals, durations, GPUs and models are independent: Poisson, or all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from traces.generators.durations import Durations
from traces.generators.models import Models
from traces.job_trace import JobTrace, checked_trace

GPU_MIXES: Mapping[str, Mapping[int, float]] = {
    "single": {1: 1.0},
    "gavel": {1: 0.70, 2: 0.10, 4: 0.15, 8: 0.05},
}
"""By name: shares of jobs by their number of GPUs. ``gavel``: of its generator of jobs."""


def mean_gpus(gpus: Mapping[int, float]) -> float:
    """Mean number of GPUs of a job. gpus: shares by the number of GPUs; their sum is 1."""
    return sum(number * share for number, share in gpus.items())


@dataclass(frozen=True, eq=False)
class JobMix:
    """What jobs are like, whenever they come.

    gpus: shares of jobs by their number of GPUs; their sum is 1. models: None for jobs without.
    """

    durations: Durations
    gpus: Mapping[int, float]
    models: Models | None = None

    def __str__(self) -> str:
        shares = ", ".join(f"{number}: {share:.6g}" for number, share in self.gpus.items())
        models = "without models" if self.models is None else str(self.models)
        return f"durations {self.durations}, GPUs {shares}, {models}"

    def jobs_per_hour_at(self, load: float, num_gpus: int) -> float:
        """Arrivals for which the GPU time asked for is ``load`` (rho) times what there is:

        load x num_gpus / (mean duration in h x mean GPUs of a job).
        """
        return load * num_gpus * 3600 / (self.durations.mean_s * mean_gpus(self.gpus))

    def draw(self, count: int, jobs_per_hour: float | None, seed: int) -> pd.DataFrame:
        """``count`` jobs with exponential gaps of mean 1 / ``jobs_per_hour``, the first one after
        such a gap; all at time 0 where that is None.

        Two draws with the same seed begin with the same jobs, whatever their counts. Every property
        has a random stream of its own, so that the same jobs arrive at another load.
        """
        streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(5)]
        gaps, parts, places, sizes, models = streams
        numbers, shares = zip(*self.gpus.items(), strict=True)
        frame = pd.DataFrame(
            {
                "job": job_ids(count),
                "submit_s": 0.0
                if jobs_per_hour is None
                else np.cumsum(gaps.exponential(3600 / jobs_per_hour, count)),
                "num_gpus": sizes.choice(numbers, size=count, p=shares),
                "duration_s": self.durations.draw(count, parts, places),
            }
        )
        if self.models is not None:
            frame["model"] = self.models.draw(frame, models)
        return frame


def job_ids(count: int) -> list[str]:
    """Ids in the order of submission."""
    return [f"job-{number}" for number in range(count)]


def poisson_jobs(mix: JobMix, count: int, jobs_per_hour: float, seed: int) -> JobTrace:
    """``count`` jobs that arrive as a Poisson process. See JobMix.draw."""
    return checked_trace(
        mix.draw(count, jobs_per_hour, seed),
        source=f"Poisson arrivals, {jobs_per_hour:.6g} an hour, {mix}, seed {seed}",
        format="generated",
    )


def static_jobs(mix: JobMix, count: int, seed: int) -> JobTrace:
    """``count`` jobs that are all there from the beginning. See JobMix.draw."""
    return checked_trace(
        mix.draw(count, None, seed),
        source=f"all jobs at once, {mix}, seed {seed}",
        format="generated",
    )
