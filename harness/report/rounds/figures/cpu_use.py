"""CPUs that leases used over those that they were held to, as the kernel tells. Pure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import LEGEND, MUTED, Figure, axis, layout, numbers, text
from harness.report.rounds.data import RunData
from harness.report.rounds.emulated_data import EmulatedData
from harness.report.rounds.figures.looks import point_of
from harness.report.thinning import MAX_POINTS, Floats, evenly, evenly_note
from harness.report.words import counted, duration, number, percent, sentence

HEIGHT = 500

_SMALLEST, _LARGEST = 5.0, 18.0
"""Sizes of points in pixels."""

_MARGIN = 1.45
"""Of the axes, so large that they have a tick even where all values are the same."""

_TICKS = [count * 10.0**exponent for exponent in range(-4, 6) for count in (1, 2, 5)]


def cpu_use(run: RunData) -> Figure | None:
    """Leases of all arms and seeds; None where the kernel told of none that it used any CPU."""
    if run.emulated is None:
        return None
    told = run.emulated.leases
    leases = told[told["cpus_used"] > 0]
    if leases.empty:
        return None
    drawn = {
        (index, arm.name): _thinned(own, MAX_POINTS // len(run.summary.arms))
        for index, arm in enumerate(run.summary.arms)
        if len(own := leases[leases["arm"] == arm.name])
    }
    table = pd.concat(drawn.values(), ignore_index=True)
    cpus = table[["cpus_enforced", "cpus_used"]].to_numpy(dtype=float)
    ends = float(cpus.min()) / _MARGIN, float(cpus.max()) * _MARGIN
    longest_s = float(table["length_s"].max())
    points = [_points(rows, index, name, longest_s) for (index, name), rows in drawn.items()]
    return Figure(
        name="cpu-use",
        title="CPUs used by each lease",
        caption=_caption(told),
        plot={
            "data": [_all_used(ends), *points],
            "layout": layout(
                HEIGHT,
                legend=LEGEND | {"itemsizing": "constant"},
                xaxis=_log_axis("CPUs enforced (log)", ends),
                yaxis=_log_axis("CPUs used, mean over the lease (log)", ends),
            ),
        },
        table=table,
        note=_note(run.emulated, len(table), len(leases), longest_s),
    )


def _caption(leases: pd.DataFrame) -> str:
    """How to read it, and what those used that prepared as much as their CPUs allow."""
    read = (
        "a lease on the dashed line used all the CPU that it was held to, as CPU-bound jobs do; "
        "GPU-bound jobs lie below it, and above it would be a limit that was not kept"
    )
    allowed_s = leases["cpus_enforced"] * leases["length_s"]
    bound = _share_used(leases[leases["cpu_demanded_s"] >= allowed_s])
    most = f"the most that any lease used is {percent(float(_share_used(leases).max()))}"
    said = (
        f"the {counted(bound.size, 'lease', 'leases')} whose samples were worth all of their CPU "
        f"time used {percent(float(np.median(bound)))} of their CPUs in the median and "
        f"{percent(float(bound.max()))} at most; {most}"
        if bound.size
        else f"no lease prepared samples worth all of its CPU time; {most}"
    )
    return f"{sentence(read)} {sentence(said)}"


def _share_used(leases: pd.DataFrame) -> Floats:
    return (leases["cpus_used"] / leases["cpus_enforced"]).to_numpy(dtype=float)


def _thinned(leases: pd.DataFrame, at_most: int) -> pd.DataFrame:
    return leases.iloc[evenly(_share_used(leases), at_most)]


def _all_used(ends: tuple[float, float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(ends),
        "y": numbers(ends),
        "showlegend": False,
        "line": {"color": MUTED, "width": 1.4, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _log_axis(title: str, ends: tuple[float, float]) -> dict[str, Any]:
    ticks = [tick for tick in _TICKS if ends[0] <= tick <= ends[1]]
    return axis(
        title,
        type="log",
        range=[math.log10(end) for end in ends],
        tickvals=ticks,
        ticktext=[number(tick) for tick in ticks],
    )


def _points(rows: pd.DataFrame, index: int, name: str, longest_s: float) -> dict[str, Any]:
    """Of one arm. The area of a point grows with the length of its lease."""
    lengths = np.sqrt(rows["length_s"].to_numpy(dtype=float) / longest_s)
    sizes = _SMALLEST + (_LARGEST - _SMALLEST) * lengths
    return {
        "type": "scatter",
        "mode": "markers",
        "name": text(name),
        "x": numbers(rows["cpus_enforced"]),
        "y": numbers(rows["cpus_used"]),
        "marker": point_of(index, numbers(sizes)),
        "text": [_label(row) for _, row in rows.iterrows()],
        "hovertemplate": "%{text}: %{y:.3g} of %{x:.3g} CPUs",
    }


def _label(row: pd.Series[Any]) -> str:
    return text(
        f"job {row['job']}, server {row['server']}, {duration(float(row['length_s']))} long"
    )


def _note(emulated: EmulatedData, drawn: int, leases: int, longest_s: float) -> str:
    found = [
        f"Larger marks are longer leases, up to {duration(longest_s)}.",
        evenly_note(drawn, leases, "lease", "the share used"),
    ]
    if idle := len(emulated.leases) - leases:
        found.append(f"{counted(idle, 'lease', 'leases')} used no CPU and cannot be drawn.")
    if emulated.untold:
        found.append(f"Of {counted(emulated.untold, 'lease', 'leases')} the use is not known.")
    return " ".join(filter(None, found))
