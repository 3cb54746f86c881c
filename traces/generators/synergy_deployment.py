"""A trace with the statistics of Synergy's dynamic deployment trace.

(Synergy, OSDI 2022, artifact: 100 single-GPU jobs of nine models, about 30 an hour, whose durations
at the fair share have a mean of 3.08 h, a median of 2.05 h and lie between 0.56 and 12.9 h.)
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd

from traces.job_trace import JobTrace, checked_trace
from traces.sensitivity import Sensitivities

MODELS = {
    "gnmt": 23,
    "transformer": 21,
    "lstm": 20,
    "shufflenet": 8,
    "alexnet": 7,
    "res50": 7,
    "res18": 7,
    "mobilenet": 6,
    "deepspeech": 1,
}
"""Jobs of each model."""

JOBS_PER_HOUR = 30.0
MEDIAN_H, LEAST_H, MOST_H = 2.05, 0.56, 12.9
SPREAD = 0.96
"""Standard deviation of the logarithm of a duration: with the two bounds it gives the mean."""


@dataclass(frozen=True)
class DeploymentJob:
    """A row of the published format: id, model, arrival, iterations, GPUs."""

    number: int
    model: str
    arrival_s: int
    iterations: int
    gpus: int = 1

    def __str__(self) -> str:
        return f"{self.number},{self.model},{self.arrival_s},{self.iterations},{self.gpus}"


def deployment_jobs(
    sensitivities: Sensitivities, gpu_type: str, seed: int
) -> Iterator[DeploymentJob]:
    """The jobs in order of arrival. The same seed gives the same ones.

    Durations are the quantiles of a log-normal distribution, so that a hundred of them have its
    statistics; who gets which, and when it arrives, is random. KeyError where a model has no
    profile on ``gpu_type``.
    """
    source = random.Random(seed)  # noqa: S311 - a workload, no secret
    models = [model for model, count in MODELS.items() for _ in range(count)]
    durations_h = [_duration_h((place + 0.5) / len(models)) for place in range(len(models))]
    source.shuffle(models)
    source.shuffle(durations_h)
    arrival_s = 0.0
    for number, (model, duration_h) in enumerate(zip(models, durations_h, strict=True)):
        arrival_s += math.ceil(source.expovariate(JOBS_PER_HOUR) * 3600)
        iteration_s = sensitivities.of(model, gpu_type).iteration_s
        yield DeploymentJob(number, model, int(arrival_s), int(duration_h * 3600 / iteration_s))


def deployment_trace(sensitivities: Sensitivities, gpu_type: str, seed: int) -> JobTrace:
    """The trace of deployment_jobs, with the time of an iteration at the fair share."""
    jobs = list(deployment_jobs(sensitivities, gpu_type, seed))
    iterations = np.array([job.iterations for job in jobs])
    iteration_s = np.array([sensitivities.of(job.model, gpu_type).iteration_s for job in jobs])
    return checked_trace(
        pd.DataFrame(
            {
                "job": [str(job.number) for job in jobs],
                "submit_s": [job.arrival_s for job in jobs],
                "model": [job.model for job in jobs],
                "num_gpus": [job.gpus for job in jobs],
                "iterations": iterations,
                "iteration_s": iteration_s,
                "duration_s": iterations * iteration_s,
            }
        ),
        source=f"jobs as those of Synergy's deployment trace, on {gpu_type}, seed {seed}",
        format="generated",
    )


def _duration_h(quantile: float) -> float:
    drawn = MEDIAN_H * math.exp(SPREAD * NormalDist().inv_cdf(quantile))
    return min(max(drawn, LEAST_H), MOST_H)
