"""The sensitivity matrix as a heat map. Pure."""

from __future__ import annotations

import numpy as np
import pandas as pd

from harness.report.figures.figure import Figure, axis, layout, numbers
from harness.report.profiles.amounts import share_cached
from harness.report.words import number, percent, sentence
from profiler.allocation import Allocation
from profiler.measuring.sensitivity_result import SensitivityResult

HEIGHT = 400
_COLOURS = [[0, "#f1f5f9"], [0.5, "#56B4E9"], [1, "#0b4a75"]]
_MOST_WRITTEN = 80
"""Cells above which values are not written into them."""


def matrix(result: SensitivityResult) -> Figure | None:
    """Throughput, of that with the most CPUs and all of the cache. None with one size of cache."""
    grid, sensitivity = result.found.grid, result.sensitivity
    if not grid.has_memory_axis:
        return None
    relative = sensitivity.throughput
    names = [
        share_cached(cache_bytes, sensitivity.dataset_bytes) for cache_bytes in grid.cache_bytes
    ]
    measured = _measured(result)
    rows, columns = relative.shape
    text = [
        [
            f"{relative[row, column] * 100:.0f}" + ("•" if measured[row, column] else "")
            for row in range(rows)
        ]
        for column in range(columns)
    ]
    cpus = [number(each) for each in grid.cpus]
    return Figure(
        name="matrix",
        title="Speed over CPUs and memory",
        caption=_caption(result),
        plot={
            "data": [
                {
                    "type": "heatmap",
                    "x": cpus,
                    "y": names,
                    "z": [numbers(relative[:, column] * 100) for column in range(columns)],
                    "zmin": 0,
                    "zmax": 100,
                    "colorscale": _COLOURS,
                    "colorbar": {"title": {"text": "%"}, "thickness": 12},
                    "text": text,
                    "texttemplate": "%{text}" if relative.size <= _MOST_WRITTEN else "",
                    "hovertemplate": "%{z:.3g} % with %{x} CPUs and %{y} cached<extra></extra>",
                }
            ],
            "layout": layout(
                HEIGHT,
                xaxis=axis("CPUs", type="category"),
                yaxis=axis("of the dataset cached", type="category"),
            ),
        },
        table=pd.DataFrame(
            {
                "cpus": np.repeat(grid.cpus, columns),
                "cache_bytes": np.tile(grid.cache_bytes, rows),
                "iteration_s": result.iteration_s.ravel(),
                "modelled_s": result.modelled_s.ravel(),
                "throughput": relative.ravel(),
                "measured": measured.ravel(),
            }
        ),
        note="A dot marks what was measured; the rest is modelled.",
    )


def _measured(result: SensitivityResult) -> np.ndarray:
    grid = result.found.grid
    known = {point.allocation for point in result.found.points if point.is_measured}
    flags = [
        [Allocation(cpus, cache_bytes) in known for cache_bytes in grid.cache_bytes]
        for cpus in grid.cpus
    ]
    return np.array(flags)


def _caption(result: SensitivityResult) -> str:
    relative = result.sensitivity.throughput
    most = number(result.found.grid.cpus[-1])
    return sentence(
        f"with {most} CPUs and the smallest cache training keeps {percent(float(relative[-1, 0]))} "
        f"of its speed, with {number(result.found.grid.cpus[0])} and all of the cache "
        f"{percent(float(relative[0, -1]))}"
    )
