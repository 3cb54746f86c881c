"""Mean completion times by arm, divided into waiting and running. Pure."""

from __future__ import annotations

from typing import Any

import pandas as pd

from harness.report.figures.figure import (
    INK,
    LEGEND,
    SHARED,
    Figure,
    axis,
    colour,
    layout,
    numbers,
    text,
)
from harness.report.rounds.data import RunData
from harness.report.rounds.documents import ArmRead
from harness.report.words import duration, long_time_unit, sentence

MOST_ROOM = 2.0
"""Length of the axis at most, over that of the longest bar."""

_BAR_HEIGHT, _REST = 38, 110


def means(run: RunData) -> Figure | None:
    """One bar an arm; None where no job that counts has ended."""
    arms = [arm for _, arm in run.shown_arms]
    if not arms:
        return None
    rows = pd.DataFrame([_row(arm) for arm in arms])
    factor, unit = long_time_unit(float(rows["jct_mean_s"].max()))
    names = [text(arm.name) for arm in arms]
    has_interval = bool(rows["jct_mean_low_s"].notna().any())
    return Figure(
        name="means",
        title="Where the time goes",
        caption=_caption(rows, has_interval=has_interval),
        plot={
            "data": [
                _bars(names, rows["waiting_s"] * factor, "waiting for GPUs", SHARED, "/", unit),
                _bars(names, rows["holding_s"] * factor, "holding GPUs", colour(0), "", unit)
                | (_intervals(rows, factor) if has_interval else {}),
            ],
            "layout": layout(
                _REST + _BAR_HEIGHT * len(arms),
                barmode="stack",
                legend=LEGEND | {"traceorder": "normal"},
                bargap=0.35,
                xaxis=axis(f"mean time ({unit})", range=[0, _end_s(rows) * factor]),
                yaxis=axis("", autorange="reversed", type="category", ticks=""),
            ),
        },
        table=rows,
    )


def _end_s(rows: pd.DataFrame) -> float:
    """Where the axis ends: whiskers of few seeds may be far longer than the bars."""
    longest_s = float(rows["jct_mean_s"].max())
    highest_s = float(rows["jct_mean_high_s"].astype(float).fillna(0).max())
    return min(max(longest_s, highest_s), MOST_ROOM * longest_s) * 1.05


def _row(arm: ArmRead) -> dict[str, Any]:
    mean = arm.jct_mean_s
    whole_s = mean.value if mean else 0.0
    waiting_s = max(arm.mean("waited_mean_s") or 0.0, 0.0)
    return {
        "arm": arm.name,
        "jct_mean_s": whole_s,
        "jct_mean_low_s": mean.low if mean else None,
        "jct_mean_high_s": mean.high if mean else None,
        "waiting_s": waiting_s,
        "holding_s": whole_s - waiting_s,
    }


def _bars(
    names: list[str], values: pd.Series[float], label: str, tint: str, shape: str, unit: str
) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": label,
        "y": names,
        "x": numbers(values),
        "marker": {
            "color": tint,
            "pattern": {"shape": shape, "fillmode": "overlay", "fgcolor": "#ffffff", "size": 7},
        },
        "hovertemplate": f"%{{x:.3g}} {unit}",
    }


def _intervals(rows: pd.DataFrame, factor: float) -> dict[str, Any]:
    mean = rows["jct_mean_s"]
    return {
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": numbers((rows["jct_mean_high_s"].astype(float) - mean).fillna(0) * factor),
            "arrayminus": numbers((mean - rows["jct_mean_low_s"].astype(float)).fillna(0) * factor),
            "color": INK,
            "thickness": 1.4,
            "width": 5,
        }
    }


def _caption(rows: pd.DataFrame, *, has_interval: bool) -> str:
    waiting_s = dict(zip(rows["arm"], rows["waiting_s"], strict=True))
    most = max(waiting_s, key=waiting_s.__getitem__)
    least = min(waiting_s, key=waiting_s.__getitem__)
    words = f"jobs wait {duration(waiting_s[most])} on average with {most}"
    if len(waiting_s) > 1:
        words += f", the longest, and {duration(waiting_s[least])} with {least}, the shortest"
    return sentence(f"{words}{'; whiskers are 95 % intervals' if has_interval else ''}")
