"""What a profiling of a sensitivity has found: from the points to the matrix. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profiler.allocation import Allocation
from profiler.measuring.fetching import MachineSpeeds
from profiler.measuring.walk import PointGrid, SpeedModel
from profiler.sensitivity.cpu_curve import Floats
from profiler.sensitivity.drift import Drift, drift_between
from profiler.sensitivity.isotonic import Risen
from profiler.sensitivity.measured_point import MeasuredPoint
from profiler.sensitivity.memory_model import Checked, check, optimistic_matrix
from profiler.sensitivity.profile import Subject, sensitivity_of, with_measured
from profiler.training.protocol import Ready
from traces.sensitivity import Sensitivity


@dataclass(frozen=True)
class Cost:
    """Seconds of measuring. optimistic_s: of what the optimistic matrix rests on, the speeds of
    the machine included. grid_s: of the whole grid; estimated where not all of it was measured
    (``is_estimated``). Either is without the repetition at the end, which both need."""

    optimistic_s: float
    grid_s: float
    is_estimated: bool

    @property
    def share(self) -> float:
        """Of the whole grid's, that of the optimistic matrix."""
        return self.optimistic_s / self.grid_s


@dataclass(frozen=True, eq=False)
class SensitivityResult:
    """modelled_s, iteration_s: (cpus, cache_bytes) of the grid; the second has the times that were
    measured where there are any. chosen: what the model rests on. checked: the model against
    points that it does not rest on. drift: None where the first point was not repeated.
    """

    found: Findings
    chosen: tuple[MeasuredPoint, ...]
    modelled_s: Floats
    iteration_s: Floats
    sensitivity: Sensitivity
    repair: Risen
    checked: Checked
    drift: Drift | None
    cost: Cost

    @property
    def is_full(self) -> bool:
        """Whether every point of the grid was tried."""
        tried = {point.allocation for point in self.found.points}
        return tried.issuperset(self.found.grid.allocations())

    @property
    def unenforced(self) -> tuple[str, ...]:
        """What was asked for and did not take effect, once each."""
        clauses = [
            clause
            for point in self.found.points
            for clause in point.evidence.get("enforced", {}).get("unenforced", ())
        ]
        return tuple(dict.fromkeys(clauses))


@dataclass(frozen=True, eq=False)
class Findings:
    """points: all, in the order in which they were measured. speeds: of the machine, where they
    were measured. notes: what a reader must know."""

    ready: Ready
    grid: PointGrid
    points: tuple[MeasuredPoint, ...]
    model: SpeedModel
    speeds: MachineSpeeds | None
    subject: Subject
    notes: tuple[str, ...]
    is_interrupted: bool


def conclude(found: Findings) -> SensitivityResult:
    """The matrix, its source, its errors and its cost."""
    grid, model = found.grid, found.model
    once = [point for point in found.points if point.purpose != "drift"]
    chosen = [point for point in once if model.rests_on(grid, point)]
    modelled_s = optimistic_matrix(model.curve, grid.cache_bytes, model.fetching)
    iteration_s = with_measured(modelled_s, grid.cpus, grid.cache_bytes, once)
    sensitivity, repair = sensitivity_of(
        found.subject,
        grid.cpus,
        grid.cache_bytes,
        iteration_s,
        grid.first,
        _how(len(once), iteration_s.size),
    )
    return SensitivityResult(
        found=found,
        chosen=tuple(chosen),
        modelled_s=modelled_s,
        iteration_s=iteration_s,
        sensitivity=sensitivity,
        repair=repair,
        checked=check(model.curve, model.fetching, [p for p in once if p not in chosen]),
        drift=_drift(grid.first, found.points),
        cost=_cost(found, chosen),
    )


def _drift(first: Allocation, points: Sequence[MeasuredPoint]) -> Drift | None:
    """Between the first point and its latest repetition; None where one of them has no time."""
    timed = [point for point in points if point.allocation == first and point.is_measured]
    once = [point for point in timed if point.purpose != "drift"]
    again = [point for point in timed if point.purpose == "drift"]
    return drift_between(once[0], again[-1]) if once and again else None


def _cost(found: Findings, chosen: Sequence[MeasuredPoint]) -> Cost:
    """What was not measured of the grid is taken to cost what points did on average."""
    once_s = [point.cost_s for point in found.points if point.purpose != "drift"]
    speeds_s = 0.0 if found.speeds is None else found.speeds.cost_s
    missing = len(found.grid.allocations()) - len(once_s)
    return Cost(
        optimistic_s=sum(point.cost_s for point in chosen) + speeds_s,
        grid_s=sum(once_s) + missing * float(np.mean(once_s)),
        is_estimated=missing > 0,
    )


def _how(measured: int, size: int) -> str:
    if measured >= size:
        return "every point of the grid was measured"
    return f"{measured} of {size} points were measured, and the others modelled from them"
