"""Demands of the jobs of a link on the unified circle, before and after rotation. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import (
    GRID,
    INK,
    Figure,
    colour,
    layout,
    numbers,
    pattern,
    text,
)
from harness.report.iterations.documents import Circle
from harness.report.thinning import Floats, mean_of_runs, note
from harness.report.words import bit_rate, listed, number, percent, seconds, time_unit
from harness.scheduling.cassini.rotation import compatibility_score

TICK_DEGREES = (0, 90, 180, 270)


@dataclass(frozen=True)
class CircleGroup:
    """A contended group of links, as several arms have it alike, with its two figures."""

    arms: list[str]
    circle: Circle
    before: Figure
    after: Figure


def circle_groups(circles: Sequence[Circle], job_names: Sequence[str]) -> list[CircleGroup]:
    """The two figures of each."""
    found = []
    for number_of_group, circle in enumerate(circles, start=1):
        unshifted = [0.0] * len(circle.jobs)
        name = f"circle-{number_of_group}"
        found.append(
            CircleGroup(
                list(circle.applied_shifts_s),
                circle,
                _figure(circle, unshifted, f"{name}-before", "Before: no time-shift", job_names),
                _figure(
                    circle,
                    circle.best_shifts_s,
                    f"{name}-after",
                    "After: the best shifts",
                    job_names,
                ),
            )
        )
    return found


def turned_demand(circle: Circle, shifts_s: Sequence[float]) -> Floats:
    """The demands with each job delayed to the nearest slice, shape (jobs, slices)."""
    demand = circle.demand_bps
    slice_s = circle.perimeter_s / demand.shape[1]
    return np.stack(
        [
            np.roll(row, round(shift_s / slice_s))
            for row, shift_s in zip(demand, shifts_s, strict=True)
        ]
    )


def _figure(
    circle: Circle, shifts_s: Sequence[float], name: str, title: str, job_names: Sequence[str]
) -> Figure:
    demand = turned_demand(circle, shifts_s)
    total = demand.sum(axis=0)
    score = float(compatibility_score(total, circle.capacity_bps))
    over = float((total > circle.capacity_bps * 1.001).mean())
    edges_s = np.arange(1, demand.shape[1] + 1) * (circle.perimeter_s / demand.shape[1])
    ends_s, shown, samples = mean_of_runs(edges_s, demand)
    starts_s = np.concatenate(([0.0], ends_s[:-1]))
    largest_bps = float(circle.demand_bps.sum(axis=0).max())
    return Figure(
        name=name,
        title=f"{title} (score {score:.2f})",
        caption=_caption(circle, over, shifts_s),
        plot={
            "data": [
                *_bars(circle, starts_s, ends_s, shown, job_names),
                _capacity(circle.capacity_bps),
            ],
            "layout": _layout(circle.perimeter_s, circle.capacity_bps, largest_bps),
        },
        table=pd.DataFrame(
            {"start_s": starts_s, "end_s": ends_s}
            | {f"{job}_bps": row for job, row in zip(circle.jobs, shown, strict=True)}
        ),
        note=note(samples, "angles"),
    )


def _caption(circle: Circle, over: float, shifts_s: Sequence[float]) -> str:
    link = f"what the link carries ({bit_rate(circle.capacity_bps)}, the dashed circle)"
    turn = f"a turn of {seconds(circle.perimeter_s)}"
    excess = (
        f"for {percent(over)} of {turn} the jobs together ask for more than {link}"
        if over
        else f"nowhere in {turn} do the jobs together ask for more than {link}"
    )
    if not any(shifts_s):
        return f"With all jobs starting at once, {excess}."
    moved = [
        f"{job} delayed by {seconds(shift_s)}"
        for job, shift_s in zip(circle.jobs, shifts_s, strict=True)
        if shift_s
    ]
    return f"With {listed(moved)}, {excess}."


def _bars(
    circle: Circle, starts_s: Floats, ends_s: Floats, demand: Floats, job_names: Sequence[str]
) -> list[dict[str, Any]]:
    turn = 360 / circle.perimeter_s
    factor, unit = time_unit(circle.perimeter_s)
    traces: list[dict[str, Any]] = []
    for job, row in zip(circle.jobs, demand, strict=True):
        index = job_names.index(job) if job in job_names else len(traces)
        traces.append(
            {
                "type": "barpolar",
                "name": text(job),
                "r": numbers(row / 1e9),
                "theta": numbers((starts_s + ends_s) / 2 * turn),
                "width": numbers((ends_s - starts_s) * turn),
                "customdata": numbers(starts_s * factor),
                "marker": {
                    "color": colour(index),
                    "line": {"width": 0.6, "color": colour(index)},
                    "pattern": {"shape": pattern(index)},
                },
                "hovertemplate": f"%{{r:.3g}} Gbit/s from %{{customdata:.4g}} {unit}",
            }
        )
    return traces


def _capacity(capacity_bps: float) -> dict[str, Any]:
    degrees = list(range(0, 361, 5))
    return {
        "type": "scatterpolar",
        "mode": "lines",
        "name": f"capacity {bit_rate(capacity_bps)}",
        "r": [capacity_bps / 1e9] * len(degrees),
        "theta": degrees,
        "line": {"color": INK, "width": 1.6, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _layout(perimeter_s: float, capacity_bps: float, largest_bps: float) -> dict[str, Any]:
    factor, unit = time_unit(perimeter_s)
    return layout(
        400,
        margin={"l": 64, "r": 64, "t": 40, "b": 36},
        polar={
            "barmode": "stack",
            "bargap": 0,
            "hole": 0.28,
            "domain": {"y": [0, 0.94]},
            "bgcolor": "#ffffff",
            "angularaxis": {
                "direction": "clockwise",
                "rotation": 90,
                "tickvals": list(TICK_DEGREES),
                "ticktext": [
                    f"{number(perimeter_s * factor * degrees / 360)} {unit}"
                    for degrees in TICK_DEGREES
                ],
                "gridcolor": GRID,
                "linecolor": "#b9c2cb",
            },
            "radialaxis": {
                "range": [0, max(largest_bps, capacity_bps) * 1.05 / 1e9],
                "tickvals": [capacity_bps / 1e9 * times for times in range(1, 9)],
                "showticklabels": False,
                "ticks": "",
                "showline": False,
                "gridcolor": GRID,
            },
        },
    )
