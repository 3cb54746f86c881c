"""How near few measured points come to the whole grid, with a model that trains here."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

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
_SILENCE_S = 120.0


def measure() -> Iterator[Figure]:
    """A tiny image model on JPEG files: the optimistic profile, then every point of 5 x 5."""
    with tempfile.TemporaryDirectory(prefix="roundelay-") as directory:
        optimistic = _profiled(Path(directory), is_full=False)
        whole = _profiled(Path(directory), is_full=True)
    errors = np.abs(whole.iteration_s / optimistic.modelled_s - 1)
    disturbed = len(disturbed_points([*optimistic.found.points, *whole.found.points]))
    drifts = [each.drift.verdict for each in (optimistic, whole) if each.drift is not None]
    note = (
        f"{MODEL}, tiny, on {len(CPUS)} x {len(CACHE_SHARES)} points of at most {BUDGET_S:g} s; "
        f"points that others disturbed: {disturbed}; drift: {', '.join(drifts)}"
    )
    for name, value, target in (
        ("median", float(np.median(errors)), 5.0),
        ("worst", float(errors.max()), 10.0),
    ):
        yield Figure(
            f"profiler.grid_error_{name}_pct", value * 100, "%", target, "at most", None, note
        )
    share = optimistic.cost.optimistic_s / whole.cost.grid_s
    yield Figure("profiler.grid_cost_share_pct", share * 100, "%", 20.0, "at most", None, note)


def _profiled(directory: Path, *, is_full: bool) -> SensitivityResult:
    batch_size = builtin_model(MODEL, tiny=True).batch_size
    job = JobSpecification(
        model=MODEL,
        tiny=True,
        device="cpu",
        made_directory=str(directory / "items"),
        made_items=made_items_for(batch_size),
    )
    plan = SensitivityPlan(job, MODEL, CPUS, Patience(BUDGET_S, _SILENCE_S), CACHE_SHARES, is_full)
    place = directory / ("full" if is_full else "optimistic")
    place.mkdir()
    result, _ = profile_sensitivity(plan, stored_items(job), place, lambda *_: None, lambda: False)
    return result
