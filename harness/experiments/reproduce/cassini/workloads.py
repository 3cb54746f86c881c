"""Jobs that come while others run, drawn as CASSINI's traces are described (NSDI'24, section 5).

The paper's own traces are not published. Models, workers and durations are drawn from a seed; each
job runs for tens of seconds, so that an experiment takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from traces.demand import demand_curve
from traces.models import RECONSTRUCTED
from traces.scenario import Scenario, scenario_of
from traces.yaml_source import YamlSource

DATA_PARALLEL = (
    "vgg11", "vgg16", "vgg19", "resnet50", "wideresnet101", "bert", "roberta", "camembert",
)  # fmt: skip
MODEL_PARALLEL = ("gpt1", "gpt2", "gpt3", "dlrm")

THEMIS = "themis"
CASSINI = "themis-cassini"
RANDOM = "random"
IDEAL = "ideal"

_RATE_BPS = 50e9
_SERVERS = 24
_MOST_WORKERS = 12
_MEETING_ITERATION_S = 0.24
"""Of all jobs alone, where their iteration times are made to meet."""
_ROUND_S = 10.0
_ECN_THRESHOLD = "20 kB"

_ARMS: dict[str, dict[str, Any]] = {
    THEMIS: {},
    CASSINI: {"scheduler": {"interleaver": "cassini"}},
    RANDOM: {"scheduler": {"placement": "random"}},
    # Every server has a link of its own to one switch: no two jobs meet.
    IDEAL: {"cluster": {"preset": "single-switch", "servers": _SERVERS, "rate": "50 Gbit/s"}},
}


@dataclass(frozen=True)
class DrawnJob:
    """One job. batch: samples per GPU and iteration. arrival_s: when it comes."""

    model: str
    workers: int
    batch: int
    iterations: int
    arrival_s: float


Draw = Callable[[np.random.Generator], list[DrawnJob]]


@dataclass(frozen=True)
class Workload:
    """A kind of trace. words: what it is. arms: that it is run with. gpus: of each server."""

    id: str
    words: str
    draw: Draw
    arms: tuple[str, ...]
    gpus: int = 1

    def scenario(self, seed: int, arms: Sequence[str]) -> Scenario:
        """The scenario with the jobs of ``seed``, on the paper's testbed."""
        jobs = self.draw(np.random.default_rng(seed))
        document: dict[str, Any] = {
            "name": f"cassini-{self.id}",
            "seed": seed,
            "cluster": {"preset": "cassini-24", "gpus": self.gpus},
            "workload": {
                "warmup_iterations": 3,
                "jobs": [
                    {
                        "id": f"{job.model}-{number}",
                        "profile": job.model,
                        "batch_per_gpu": job.batch,
                        "workers": job.workers,
                        "iterations": job.iterations,
                        "start": f"{job.arrival_s:.3f} s",
                    }
                    for number, job in enumerate(jobs)
                ],
            },
            "scheduler": {"placement": "themis", "round": f"{_ROUND_S:g} s"},
            "transport": {"ecn_threshold": _ECN_THRESHOLD},
            "arms": {arm: _ARMS[arm] for arm in arms},
        }
        return scenario_of(YamlSource(Path("scenario.yaml"), "", document))


def alone_s(model: str, workers: int, batch: int) -> float:
    """Time of an iteration that shares no link."""
    return demand_curve(RECONSTRUCTED[model].profile(workers, batch).demand, _RATE_BPS).period_s


def _job(
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


def dynamic(gpus: int = 1, *, meets: bool = False) -> Draw:
    """A cluster that is nearly full of data-parallel jobs, and others that come into what is left:
    DLRM and ResNet50, as in the paper's stress test."""

    def draw(random: np.random.Generator) -> list[DrawnJob]:
        sizes = random.permutation(np.array([5, 5, 4, 4]) * gpus)
        jobs = [
            _job(
                random, str(random.choice(DATA_PARALLEL)), int(size), random.uniform(20, 40), 0.0,
                meets=meets,
            )
            for size in sizes
        ]  # fmt: skip
        late = ("resnet50", "dlrm") if not meets else ("resnet50", "vgg16")
        jobs += [
            _job(random, model, 3 * gpus, random.uniform(15, 25), 5.0 + index, meets=meets)
            for index, model in enumerate(late)
        ]
        return jobs

    return draw


def poisson(models: Sequence[str], load: float, num_jobs: int = 8) -> Draw:
    """Jobs that come by themselves, so often that GPUs are wanted for ``load`` of the time. They
    have up to 12 workers, as is remembered (unverified) of the paper's."""

    def draw(random: np.random.Generator) -> list[DrawnJob]:
        arrival_s, jobs = 0.0, []
        for _ in range(num_jobs):
            model = str(random.choice(models))
            known = RECONSTRUCTED[model].workers
            sizes = [size for size in range(2, _MOST_WORKERS + 1) if size in known]
            workers, duration_s = int(random.choice(sizes)), random.uniform(10, 25)
            jobs.append(_job(random, model, workers, duration_s, round(arrival_s, 3)))
            arrival_s += random.exponential(workers * duration_s / (load * _SERVERS))
        return jobs

    return draw


ALL_ARMS = (THEMIS, CASSINI, RANDOM, IDEAL)
_NO_RANDOM = (THEMIS, CASSINI, IDEAL)

DYNAMIC = Workload("dynamic", "jobs as drawn", dynamic(), ALL_ARMS)
DYNAMIC_MEETING = Workload(
    "meeting", "batches for which iteration times meet", dynamic(meets=True), (THEMIS, CASSINI)
)
POISSON_DATA_PARALLEL = Workload(
    "poisson-dp", "data-parallel jobs at a load of 100 %", poisson(DATA_PARALLEL, 1.0), _NO_RANDOM
)
POISSON_MODEL_PARALLEL = Workload(
    "poisson-mp", "model-parallel jobs at a load of 100 %", poisson(MODEL_PARALLEL, 1.0), _NO_RANDOM
)
MULTIGPU = Workload("multigpu", "two GPUs a server", dynamic(2), (THEMIS, CASSINI), gpus=2)
