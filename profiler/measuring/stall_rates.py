"""From three measured points to the rates of the stages of training. Pure.

(DS-Analyzer, VLDB 2021: with a batch that is made once, with all samples cached, with none.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from profiler.sensitivity.measured_point import MeasuredPoint
from profiler.sensitivity.stalls import Rates

_SLOWER = 1.05
"""Times as long as without a stage, an iteration is limited by it; below, the stage is hidden."""


@dataclass(frozen=True)
class StallPoints:
    """synthetic: with one batch over and over. cached: with as much of the dataset in the cache as
    fits. cold: with an empty cache; None where the training does not follow a cache.
    """

    synthetic: MeasuredPoint
    cached: MeasuredPoint
    cold: MeasuredPoint | None


@dataclass(frozen=True)
class StorageRates:
    """Samples/s that storage and the cache give, as measured apart from training."""

    storage: float
    memory: float


@dataclass(frozen=True)
class StageRates:
    """hidden: stages that another one hides; their rates are estimates, each with how, in words."""

    rates: Rates
    hidden: dict[str, str]


def stage_rates(
    batch_size: int, cpus: float, points: StallPoints, apart: StorageRates | None
) -> StageRates:
    """All of ``points`` were measured. apart: where storage could be measured so."""
    hidden: dict[str, str] = {}
    preparation = batch_size / points.cached.iteration_s
    if points.cached.iteration_s < _SLOWER * points.synthetic.iteration_s:
        estimated, hidden["preparation"] = _hidden_preparation(batch_size, cpus, points)
        preparation = max(preparation, estimated)
    storage, memory = math.inf, math.inf
    if apart is not None:
        storage, memory = apart.storage, apart.memory
    elif points.cold is not None:
        storage = batch_size / points.cold.iteration_s
        if points.cold.iteration_s < _SLOWER * points.cached.iteration_s:
            hidden["fetch"] = "at least this: training with an empty cache is as fast as with all"
    else:
        hidden["fetch"] = "not known: the training does not follow a cache"
    rates = Rates(
        cpus,
        ingestion=batch_size / points.synthetic.iteration_s,
        preparation=preparation,
        storage=storage,
        memory=memory,
    )
    return StageRates(rates, hidden)


def _hidden_preparation(batch_size: int, cpus: float, points: StallPoints) -> tuple[float, str]:
    """By the CPU time that loading takes, on the CPUs that computing leaves; (samples/s, how)."""
    at_least = "at least this: training with all cached is as fast as with one batch"
    with_it, without = cpu_s_per_iteration(points.cached), cpu_s_per_iteration(points.synthetic)
    if with_it is None or without is None or with_it <= without:
        return 0.0, at_least
    left = cpus - without / points.cached.iteration_s
    if left <= 0:
        return 0.0, at_least
    return left * batch_size / (with_it - without), "by the CPU time that it takes"


def cpu_s_per_iteration(point: MeasuredPoint) -> float | None:
    """Of all its processes; None where the kernel did not tell."""
    cpu = point.evidence.get("point", {}).get("cpu", {})
    iterations = point.iterations + point.warmup_iterations
    return None if cpu.get("used_s") is None else float(cpu["used_s"]) / iterations
