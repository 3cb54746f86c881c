"""What optimistic profiling costs less than the full grid, and how near to it it comes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.figures import Figure
from harness.experiments.reproduce.recipes.synergy_profiling import (
    CPUS,
    MEMORY_POINTS,
    NOISE,
    profiled,
)
from traces.sensitivity import builtin_sensitivities

_PAPER_RATIO, _PAPER_ERROR_PCT = 30.0, 3.0
_SEEDS = 20


def measure() -> Iterator[Figure]:
    """Points and errors over the ten published models on 24 CPUs, the measuring simulated."""
    entries = builtin_sensitivities("synergy").entries
    exact = [profiled(entry) for entry in entries]
    most = max(exact, key=lambda one: len(one.points))
    grid = len(CPUS) * MEMORY_POINTS
    note = (
        f"{grid} points of the grid over {len(most.points)} of {most.model}, which takes most; "
        f"mean of the models {np.mean([len(one.points) for one in exact]):.1f} points"
    )
    ratio = grid / len(most.points)
    yield Figure("profiler.optimistic_cost_ratio", ratio, "x", 30.0, "at least", _PAPER_RATIO, note)
    noisy = [profiled(entry, NOISE, seed) for entry in entries for seed in range(_SEEDS)]
    errors = 100 * np.concatenate([one.matrix_errors.ravel() for one in noisy])
    worst = max(exact, key=lambda one: float(one.matrix_errors.max()))
    note = (
        f"median over CPUs, memory, ten models and {_SEEDS} seeds with noise of {NOISE:.1%}; worst "
        f"{errors.max():.1f} %; without noise {100 * worst.matrix_errors.max():.1f} % "
        f"({worst.model})"
    )
    error = float(np.median(errors))
    yield Figure(
        "profiler.optimistic_error_pct", error, "%", 3.0, "at most", _PAPER_ERROR_PCT, note
    )
