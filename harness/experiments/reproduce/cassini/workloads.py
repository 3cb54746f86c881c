"""Jobs that come while others run, drawn as CASSINI's traces are described (NSDI'24, section 5).

The paper's own traces are not published. Models, workers and durations are drawn from a seed; each
job runs for tens of seconds, so that an experiment takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from traces.generators.cassini_jobs import DATA_PARALLEL, DrawnJob, draw_job, dynamic_jobs
from traces.models import RECONSTRUCTED
from traces.scenario import Scenario, scenario_of
from traces.yaml_source import YamlSource

MODEL_PARALLEL = ("gpt1", "gpt2", "gpt3", "dlrm")

THEMIS = "themis"
CASSINI = "themis-cassini"
POLLUX = "pollux"
POLLUX_CASSINI = "pollux-cassini"
RANDOM = "random"
IDEAL = "ideal"

_SERVERS = 24
_MOST_WORKERS = 12
_ROUND_S = 10.0
_ECN_THRESHOLD = "20 kB"

_POLLUX = {"placement": "pollux", "restart": "2 s"}
"""It moves many jobs at once, whose workers all have to be there by then."""

_ARMS: dict[str, dict[str, Any]] = {
    THEMIS: {},
    CASSINI: {"scheduler": {"interleaver": "cassini"}},
    POLLUX: {"scheduler": _POLLUX},
    POLLUX_CASSINI: {"scheduler": {**_POLLUX, "interleaver": "cassini"}},
    RANDOM: {"scheduler": {"placement": "random"}},
    # Every server has a link of its own to one switch: no two jobs meet.
    IDEAL: {"cluster": {"preset": "single-switch", "servers": _SERVERS, "rate": "50 Gbit/s"}},
}


@dataclass(frozen=True)
class Host:
    """A scheduler that CASSINI is added to, by its arms.

    ideal: where no two of its jobs share a link; None where that is not run.
    """

    name: str
    alone: str
    with_cassini: str
    ideal: str | None = None


THEMIS_HOST = Host("Themis", THEMIS, CASSINI, IDEAL)
POLLUX_HOST = Host("Pollux", POLLUX, POLLUX_CASSINI)


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
            jobs.append(draw_job(random, model, workers, duration_s, round(arrival_s, 3)))
            arrival_s += random.exponential(workers * duration_s / (load * _SERVERS))
        return jobs

    return draw


_ALL_ARMS = (THEMIS, CASSINI, POLLUX, POLLUX_CASSINI, RANDOM, IDEAL)
_THEMIS_ALONE = (THEMIS, CASSINI, IDEAL)

DYNAMIC = Workload("dynamic", "jobs as drawn", dynamic_jobs, _ALL_ARMS)
DYNAMIC_MEETING = Workload(
    "meeting",
    "batches for which iteration times meet",
    partial(dynamic_jobs, meets=True),
    (THEMIS, CASSINI),
)
POISSON_DATA_PARALLEL = Workload(
    "poisson-dp",
    "data-parallel jobs at a load of 100 %",
    poisson(DATA_PARALLEL, 1.0),
    _THEMIS_ALONE,
)
POISSON_MODEL_PARALLEL = Workload(
    "poisson-mp",
    "model-parallel jobs at a load of 100 %",
    poisson(MODEL_PARALLEL, 1.0),
    _THEMIS_ALONE,
)
MULTIGPU = Workload(
    "multigpu", "two GPUs a server", partial(dynamic_jobs, gpus=2), (THEMIS, CASSINI), gpus=2
)
