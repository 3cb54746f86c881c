"""Speed over CPUs: measured with intervals, the curve between, and the knee. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import (
    MUTED,
    Figure,
    axis,
    colour,
    layout,
    numbers,
)
from harness.report.words import counted, number, percent, sentence
from profiler.measuring.sensitivity_result import SensitivityResult
from profiler.sensitivity.measured_point import MeasuredPoint

HEIGHT = 380
_FINE = 200  # points of the line


def cpu_curve(result: SensitivityResult) -> Figure:
    """At full memory, in samples a second."""
    found = result.found
    batch, curve = found.subject.batch_size, found.model.curve
    at_full = [
        point
        for point in found.points
        if point.is_measured
        and point.purpose != "drift"
        and point.allocation.cache_bytes == found.grid.full_bytes
    ]
    needed = [point for point in at_full if point in result.chosen]
    others = [point for point in at_full if point not in result.chosen]
    fine = np.linspace(curve.cpus[0], curve.cpus[-1], _FINE)
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "between them",
            "x": numbers(fine),
            "y": numbers(batch / curve.at(fine)),
            "line": {"color": colour(0), "width": 2},
            "hovertemplate": "%{y:.4g} samples/s with %{x:.3g} CPUs",
        },
        _points("measured", needed, batch, 0, "circle"),
        *([_points("measured too", others, batch, 1, "diamond-open")] if others else []),
    ]
    return Figure(
        name="cpus",
        title="Speed over CPUs, with all of the cache",
        caption=_caption(result),
        plot={
            "data": data,
            "layout": layout(
                HEIGHT,
                xaxis=axis("CPUs", range=[0, float(curve.cpus[-1]) * 1.04]),
                yaxis=axis("samples/s", rangemode="tozero"),
                shapes=[_knee(curve.knee_cpus)],
            ),
        },
        table=pd.DataFrame(
            {
                "cpus": curve.cpus,
                "iteration_s": curve.iteration_s,
                "samples_per_s": batch / curve.iteration_s,
                "measured": curve.measured,
                "uncertain": curve.uncertain,
            }
        ),
        note="Bars are intervals of 95 %. The dashed line is the ideal demand.",
    )


def _points(
    name: str, points: list[MeasuredPoint], batch: int, index: int, symbol: str
) -> dict[str, Any]:
    speeds = np.array([batch / point.iteration_s for point in points])
    fastest = np.array([batch / point.interval_s[0] for point in points])
    slowest = np.array([batch / point.interval_s[1] for point in points])
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": numbers([point.allocation.cpus for point in points]),
        "y": numbers(speeds),
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": numbers(fastest - speeds),
            "arrayminus": numbers(speeds - slowest),
            "color": colour(index),
        },
        "marker": {"color": colour(index), "symbol": symbol, "size": 9},
        "hovertemplate": "%{y:.4g} samples/s with %{x:.3g} CPUs",
    }


def _knee(cpus: float) -> dict[str, Any]:
    return {
        "type": "line",
        "x0": cpus,
        "x1": cpus,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": MUTED, "dash": "dash", "width": 1.5},
    }


def _caption(result: SensitivityResult) -> str:
    curve = result.found.model.curve
    gain = float(curve.iteration_s[0] / curve.iteration_s[-1])
    least, most = float(curve.cpus[0]), float(curve.cpus[-1])
    if curve.knee == 0:
        return sentence(
            f"more than {_cpus(least)} do not help: with {number(most)} it is faster by "
            f"{percent(max(gain - 1, 0.0))}"
        )
    return sentence(
        f"with {_cpus(curve.knee_cpus)} training is as fast as with {number(most)}, and "
        f"{number(gain)} times as fast as with {number(least)}"
    )


def _cpus(count: float) -> str:
    return counted(count, "CPU", "CPUs")  # type: ignore[arg-type]
