"""How near few measured points come to the whole grid, with a model that trains here."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure
from profiler.measuring.notes import disturbed_points
from profiler.measuring.sensitivity import SensitivityPlan, profile_sensitivity
from profiler.measuring.sensitivity_result import SensitivityResult
from profiler.measuring.training import Patience, made_items_for
from profiler.models.builtin import builtin_model
from profiler.training.job_items import stored_items
from profiler.training.job_specification import JobSpecification

MODEL = "res18"
CPUS = (1.0, 1.25, 1.5, 1.75, 2.0)
CACHE_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
BUDGET_S = 8.0
ROUNDS = 3
"""Of an optimistic profile and a whole grid, in turn. A machine whose CPUs are faster or slower for
a minute makes single cells of two grids differ by more than the model does; longer points do not
help there, other minutes do."""

_SILENCE_S = 120.0


def measure() -> Iterator[Figure]:
    """A tiny image model on JPEG files: its optimistic profile against every point of 5 x 5."""
    optimistic, whole = [], []
    with tempfile.TemporaryDirectory(prefix="roundelay-") as directory:
        for number in range(ROUNDS):
            optimistic.append(_profiled(Path(directory), f"optimistic{number}", is_full=False))
            whole.append(_profiled(Path(directory), f"grid{number}", is_full=True))
    measured_s = np.array([result.iteration_s for result in whole])
    modelled_s = np.array([result.modelled_s for result in optimistic])
    errors = np.abs(_geometric_mean(measured_s) / _geometric_mean(modelled_s) - 1)
    floor = np.abs(measured_s[1:] / measured_s[:-1] - 1)
    results = (*optimistic, *whole)
    disturbed = sum(len(disturbed_points(list(result.found.points))) for result in results)
    drifted = sum(
        result.drift is not None and result.drift.verdict != "steady" for result in results
    )
    note = (
        f"{MODEL}, tiny, on {len(CPUS)} x {len(CACHE_SHARES)} points of at most {BUDGET_S:g} s; "
        f"means of {ROUNDS} optimistic profiles and {ROUNDS} grids in turn; one grid differs from "
        f"the next by {np.median(floor):.1%} (median), {floor.max():.1%} (worst); points that "
        f"others disturbed: {disturbed}; profiles in which the machine may have drifted: {drifted}"
    )
    for name, value, target in (
        ("median", float(np.median(errors)), 5.0),
        ("worst", float(errors.max()), 10.0),
    ):
        yield Figure(
            f"profiler.grid_error_{name}_pct", value * 100, "%", target, "at most", None, note
        )
    grid_s = statistics.mean(result.cost.grid_s for result in whole)
    share = statistics.mean(result.cost.optimistic_s for result in optimistic) / grid_s
    yield Figure("profiler.grid_cost_share_pct", share * 100, "%", 20.0, "at most", None, note)


def _geometric_mean(times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over the first axis."""
    mean: NDArray[np.float64] = np.exp(np.log(times_s).mean(axis=0))
    return mean


def _profiled(directory: Path, name: str, *, is_full: bool) -> SensitivityResult:
    batch_size = builtin_model(MODEL, tiny=True).batch_size
    job = JobSpecification(
        model=MODEL,
        tiny=True,
        device="cpu",
        made_directory=str(directory / "items"),
        made_items=made_items_for(batch_size),
    )
    plan = SensitivityPlan(job, MODEL, CPUS, Patience(BUDGET_S, _SILENCE_S), CACHE_SHARES, is_full)
    place = directory / name
    place.mkdir()
    result, _ = profile_sensitivity(plan, stored_items(job), place, lambda *_: None, lambda: False)
    return result
