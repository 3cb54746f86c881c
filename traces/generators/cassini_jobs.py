"""Networked jobs with a drawn batch, and the dynamic trace of CASSINI (NSDI'24, section 5).

The paper's own trace is not published. Models, workers and durations are drawn from a seed; each
job runs for tens of seconds, so that an experiment takes minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from traces.demand import demand_curve
from traces.job_trace import JobTrace, checked_trace
from traces.models import RECONSTRUCTED

DATA_PARALLEL = (
    "vgg11", "vgg16", "vgg19", "resnet50", "wideresnet101", "bert", "roberta", "camembert",
)  # fmt: skip

_RATE_BPS = 50e9
_MEETING_ITERATION_S = 0.24
"""Of all jobs alone, where their iteration times are made to meet."""


@dataclass(frozen=True)
class DrawnJob:
    """One job. batch: samples per GPU and iteration. arrival_s: when it comes."""

    model: str
    workers: int
    batch: int
    iterations: int
    arrival_s: float


def alone_s(model: str, workers: int, batch: int) -> float:
    """Time of an iteration that shares no link."""
    return demand_curve(RECONSTRUCTED[model].profile(workers, batch).demand, _RATE_BPS).period_s


def draw_job(
    random: np.random.Generator,
    model: str,
    workers: int,
    duration_s: float,
    arrival_s: float,
    *,
    meets: bool = False,
) -> DrawnJob:
    """A job that takes ``duration_s`` alone. meets: with the batch whose iterations take nearest to
    what those of all others take; else a batch from a half to all of the model's default."""
    known = RECONSTRUCTED[model]
    if meets:
        batch = min(
            known.batches,
            key=lambda each: abs(alone_s(model, workers, each) - _MEETING_ITERATION_S),
        )
    else:
        least = max(known.default_batch // 2, 1)
        batch = int(random.integers(least, known.default_batch, endpoint=True))
    iterations = max(round(duration_s / alone_s(model, workers, batch)), 10)
    return DrawnJob(model, workers, batch, iterations, arrival_s)


def dynamic_jobs(
    random: np.random.Generator, gpus: int = 1, *, meets: bool = False
) -> list[DrawnJob]:
    """A cluster that is nearly full of data-parallel jobs, and others that come into what is left:
    DLRM and ResNet50, as in the paper's stress test. gpus: of each of its 24 servers."""
    sizes = random.permutation(np.array([5, 5, 4, 4]) * gpus)
    jobs = [
        draw_job(
            random, str(random.choice(DATA_PARALLEL)), int(size), random.uniform(20, 40), 0.0,
            meets=meets,
        )
        for size in sizes
    ]  # fmt: skip
    late = ("resnet50", "dlrm") if not meets else ("resnet50", "vgg16")
    jobs += [
        draw_job(random, model, 3 * gpus, random.uniform(15, 25), 5.0 + index, meets=meets)
        for index, model in enumerate(late)
    ]
    return jobs


def dynamic_trace(seed: int, gpus: int = 1, *, meets: bool = False) -> JobTrace:
    """The trace of dynamic_jobs with ``seed``."""
    batches = "batches for which iteration times meet" if meets else "drawn batches"
    return networked_trace(
        dynamic_jobs(np.random.default_rng(seed), gpus, meets=meets),
        f"CASSINI's dynamic jobs, {gpus} GPUs a server, {batches}, seed {seed}",
    )


def networked_trace(jobs: Sequence[DrawnJob], source: str) -> JobTrace:
    """A trace of ``jobs``: one GPU a worker; an iteration takes what it takes alone at 50 Gbit/s.

    Batches, which a trace has no column for, are in the notes.
    """
    iteration_s = np.array([alone_s(job.model, job.workers, job.batch) for job in jobs])
    iterations = np.array([job.iterations for job in jobs])
    names = [f"{job.model}-{number}" for number, job in enumerate(jobs)]
    batches = ", ".join(f"{name} {job.batch}" for name, job in zip(names, jobs, strict=True))
    return checked_trace(
        pd.DataFrame(
            {
                "job": names,
                "submit_s": [job.arrival_s for job in jobs],
                "model": [job.model for job in jobs],
                "num_gpus": [job.workers for job in jobs],
                "iterations": iterations,
                "iteration_s": iteration_s,
                "duration_s": iterations * iteration_s,
            }
        ),
        source=source,
        format="generated",
        notes=(f"samples per GPU and iteration: {batches}",),
    )
