"""Iteration times as cumulative distributions, the measurement with the prediction on top. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.cumulative import cumulative, share_axis
from harness.report.figures.figure import (
    INK,
    PALETTE,
    Figure,
    axis,
    colour,
    layout,
    text,
)
from harness.report.iterations.data import RunData
from harness.report.iterations.documents import ArmRead
from harness.report.thinning import Floats, note
from harness.report.words import counted, seconds, signed_percent, time_unit

LEAST_WIDTH = 0.02
"""Least width of an arm's time axis over its mean, so that jitter does not look like an effect."""


def all_arms(run: RunData) -> Figure | None:
    """All arms on one axis; None where no arm has counted iterations."""
    measured_any = any(arm.measured for arm in run.shown_arms)
    parts = []
    for index, arm in enumerate(run.shown_arms):
        tint = PALETTE[-1 - index % len(PALETTE)]
        for side, times in _times(run, arm.name):
            parts.append((arm.name, side, tint, times))
    if not parts:
        return None
    factor, unit = time_unit(max(float(times.max()) for *_, times in parts))
    data, tables, samples, named = [], [], 1.0, set[str]()
    for name, side, tint, times in parts:
        dashed = side == "predicted" and measured_any
        trace, table, per_point = _trace(times, (factor, unit), name, _line(tint, dashed))
        data.append(trace | {"legendgroup": text(name), "showlegend": name not in named})
        named.add(name)
        tables.append(table.assign(arm=name, side=side))
        samples = max(samples, per_point)
    lines = "solid lines are measured, dashed ones predicted" if measured_any else "as predicted"
    widest = np.concatenate([times for *_, times in parts])
    return Figure(
        name="all-times",
        title="Iteration times of all arms",
        caption=f"The further right a line stands, the longer the iterations of its arm ({lines}).",
        plot={"data": data, "layout": _layout(360, unit, _range(widest * factor))},
        table=pd.concat(tables, ignore_index=True),
        note=note(samples, "iterations"),
    )


def one_arm(run: RunData, arm: ArmRead) -> Figure | None:
    """One arm on an axis of its own; None where it has no counted iterations."""
    found = _times(run, arm.name)
    if not found:
        return None
    everything = np.concatenate([times for _, times in found])
    factor, unit = time_unit(float(everything.max()))
    data, tables, samples = [], [], 1.0
    for side, times in found:
        dashed = side == "predicted" and len(found) > 1
        line = _line(INK if dashed else colour(0), dashed)
        trace, table, per_point = _trace(times, (factor, unit), side, line)
        data.append(trace)
        tables.append(table.assign(arm=arm.name, side=side))
        samples = max(samples, per_point)
    return Figure(
        name=f"times_{arm.name}",
        title=f"{arm.name}: iteration times",
        caption=_caption(found, arm),
        plot={"data": data, "layout": _layout(280, unit, _range(everything * factor))},
        table=pd.concat(tables, ignore_index=True),
        note=note(samples, "iterations"),
    )


def _times(run: RunData, arm: str) -> list[tuple[str, Floats]]:
    found = [(name, np.asarray(side.counted_s(arm), dtype=float)) for name, side in run.sides]
    return [(name, times) for name, times in found if times.size]


def _line(tint: str, dashed: bool) -> dict[str, Any]:
    dash = {"dash": "dash", "width": 1.8} if dashed else {"width": 2.6}
    return {"color": tint, **dash}


def _trace(
    times: Floats, unit: tuple[float, str], label: str, line: dict[str, Any]
) -> tuple[dict[str, Any], pd.DataFrame, float]:
    return cumulative(times, unit, label, "iterations", "iteration_s", line)


def _caption(found: list[tuple[str, Floats]], arm: ArmRead) -> str:
    times = dict(found)
    first = found[0][0]
    values = times[first]
    verb = "took" if first == "measured" else "take"
    low_s, high_s = seconds(float(values.min())), seconds(float(values.max()))
    spread = low_s if low_s == high_s else f"from {low_s} to {high_s}"
    words = f"{counted(values.size, 'iteration', 'iterations')} {verb} {spread}"
    if arm.difference and "predicted" in times and first == "measured":
        predicted = seconds(float(times["predicted"].mean()))
        difference = signed_percent(arm.difference["mean"])
        return f"{words}; the predicted mean is {predicted} ({difference})."
    return f"{words}, as {first}."


def _range(values: Floats) -> list[float]:
    low, high = float(values.min()), float(values.max())
    least = float(values.mean()) * LEAST_WIDTH
    margin = max((high - low) * 0.08, (least - (high - low)) / 2)
    return [low - margin, high + margin]


def _layout(height: int, unit: str, span: list[float]) -> dict[str, Any]:
    return layout(
        height,
        xaxis=axis(f"iteration time ({unit})", nticks=7, range=span),
        yaxis=share_axis("iterations"),
    )
