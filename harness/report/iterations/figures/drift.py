"""How far jobs with time-shifts stray from their grids, iteration by iteration. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from emulator.timeshift import DRIFT_THRESHOLD
from harness.report.figures.figure import INK, Figure, axis, colour, layout, numbers, text
from harness.report.iterations.data import RunData, Side
from harness.report.iterations.documents import ArmRead
from harness.report.thinning import MAX_POINTS, Floats, note
from harness.report.words import counted, listed, percent

HEIGHT = 300

_LEAST_ITERATIONS = 3

_NOTHING = 1e-5
"""Lateness, as a share of an iteration, that is not worth a number."""

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star")


@dataclass(frozen=True)
class _Lateness:
    """Of one job. late: of each iteration's start, as a share of the period. steps: grid points
    from the start before, so that above 1 some were let pass."""

    job: str
    start_s: Floats
    late: Floats
    steps: Floats


def drift(run: RunData, arm: ArmRead) -> Figure | None:
    """Of the side that is there, the measurement first; None where no shift held jobs apart."""
    jobs = [
        job
        for job in run.job_names
        if any(job in each.jobs and arm.name in each.applied_shifts_s for each in run.circles)
    ]
    if arm.interleaver == "none" or arm.schedule is not None or not jobs:
        return None
    for name, side in run.sides:
        found = [late for job in jobs if (late := _lateness(side, arm.name, job)) is not None]
        if found:
            return _figure(run, arm, name, side, found)
    return None


def _lateness(side: Side, arm: str, job: str) -> _Lateness | None:
    """None where it has too few iterations after the warm-up.

    The grid is what the starts tell: its period is the slope of the line through them over the
    points of the grid that they are at, and none of them is early.
    """
    rows = side.iterations
    own = rows[(rows["arm"] == arm) & (rows["job"] == job) & rows["counted"]]
    start_s = np.sort(own["start_s"].to_numpy(dtype=float))
    if start_s.size < _LEAST_ITERATIONS:
        return None
    gaps_s = np.diff(start_s)
    steps = np.maximum(np.rint(gaps_s / np.median(gaps_s)), 1.0)
    points = np.concatenate(([0.0], np.cumsum(steps)))
    period_s = float(np.polyfit(points, start_s, 1)[0])
    late = start_s / period_s - points
    return _Lateness(job, start_s, late - late.min(), np.concatenate(([1.0], steps)))


def _figure(run: RunData, arm: ArmRead, name: str, side: Side, found: list[_Lateness]) -> Figure:
    step = max(math.ceil(max(each.start_s.size for each in found) / MAX_POINTS), 1)
    return Figure(
        name=f"drift_{arm.name}",
        title=f"{arm.name}: drift from the time-shifts",
        caption=_caption(arm, name, side, found),
        plot={
            "data": [_line(each, run.job_names.index(each.job), step) for each in found],
            "layout": _layout(found),
        },
        table=pd.concat(
            [
                pd.DataFrame(
                    {"start_s": each.start_s, "late": each.late, "grid_points": each.steps}
                ).assign(arm=arm.name, side=name, job=each.job)
                for each in found
            ],
            ignore_index=True,
        ),
        note=note(step, "iterations, the latest of them; the CSV has all"),
    )


def _line(each: _Lateness, index: int, step: int) -> dict[str, Any]:
    """Thinned by the latest of each few, for it is the late ones that count."""
    starts = np.arange(0, each.start_s.size, step)
    latest = np.maximum.reduceat(each.late, starts)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": text(each.job),
        "showlegend": True,
        "x": numbers(each.start_s[starts]),
        "y": numbers(latest * 100),
        "marker": {
            "color": colour(index),
            "symbol": _SYMBOLS[index % len(_SYMBOLS)],
            "size": 5,
            "opacity": 0.75,
        },
        "hovertemplate": "%{y:.3g} % of an iteration late at %{x:.4g} s",
    }


def _layout(found: list[_Lateness]) -> dict[str, Any]:
    most = max(float(each.late.max()) for each in found)
    top = max(most, DRIFT_THRESHOLD) * 118
    return layout(
        HEIGHT,
        xaxis=axis("", ticksuffix=" s", nticks=8),
        yaxis=axis("late (% of an iteration)", range=[-top * 0.03, top], nticks=6),
        shapes=[
            {
                "type": "line",
                "xref": "x domain",
                "yref": "y",
                "x0": 0,
                "x1": 1,
                "y0": DRIFT_THRESHOLD * 100,
                "y1": DRIFT_THRESHOLD * 100,
                "line": {"color": INK, "width": 1.2, "dash": "dot"},
            }
        ],
    )


def _caption(arm: ArmRead, name: str, side: Side, found: list[_Lateness]) -> str:
    jobs = side.jobs[side.jobs["arm"] == arm.name].set_index("job")["adjustments"]
    counts = [(each.job, int(jobs.get(each.job, 0))) for each in found]
    moved = [f"{job} {counted(count, 'time', 'times')}" for job, count in counts if count]
    foreseen = ", as predicted" if name == "predicted" else ""
    return (
        "Each mark is the start of an iteration; a job that is later than the dotted line waits "
        f"for its next turn, which happened to {listed(moved) or 'none'}{foreseen}, and "
        f"{_latest(found)}."
    )


def _latest(found: list[_Lateness]) -> str:
    latest = max(found, key=lambda each: float(each.late.max()))
    late = float(latest.late.max())
    if late < _NOTHING:
        return "every start is at its time"
    return f"the latest start, of {latest.job}, is {percent(late)} of an iteration behind"
