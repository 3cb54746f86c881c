"""Mean completion times over the length of jobs, arm by arm. Pure."""

from __future__ import annotations

from typing import Any

import pandas as pd

from harness.report.figures.figure import MUTED, Figure, layout, numbers, text
from harness.report.rounds.comparison import best_other
from harness.report.rounds.data import RunData
from harness.report.rounds.figures.looks import line_of, marker_of
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.rounds.groups import by_length, mean_times
from harness.report.words import duration, listed, long_time_unit, number, sentence

HEIGHT = 420


def lengths(run: RunData) -> Figure | None:
    """One point for as many jobs, from the shortest to the longest; None where all are alike."""
    jobs = run.all_ended
    if jobs["alone_s"].nunique() < 2:
        return None
    rows = mean_times(jobs, by_length(jobs))
    unit = long_time_unit(float(rows["jct_mean_s"].median()))
    alone_s = rows["alone_mean_s"].min(), rows["alone_mean_s"].max()
    jct_s = rows["jct_mean_s"].min(), rows["jct_mean_s"].max()
    axes_s = (min(alone_s[0], jct_s[0]), max(alone_s[1], jct_s[1]))
    return Figure(
        name="by-length",
        title="Completion time by length of the job",
        caption=_caption(run, rows),
        plot={
            "data": [_as_if_alone(alone_s, unit[0]), *_lines(run, rows, unit)],
            "layout": layout(
                HEIGHT,
                xaxis=log_time_axis("time alone (log)", alone_s, unit),
                yaxis=log_time_axis("mean completion time (log)", axes_s, unit),
            ),
        },
        table=rows.rename(columns={"group": "length"}),
        note=f"Each point stands for about one in {rows['group'].nunique()} jobs.",
    )


def _as_if_alone(alone_s: tuple[float, float], factor: float) -> dict[str, Any]:
    ends = numbers([end_s * factor for end_s in alone_s])
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "as long as alone",
        "x": ends,
        "y": ends,
        "line": {"color": MUTED, "width": 1.4, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _lines(run: RunData, rows: pd.DataFrame, unit: tuple[float, str]) -> list[dict[str, Any]]:
    factor, unit_name = unit
    traces = []
    for index, arm in run.shown_arms:
        own = rows[rows["arm"] == arm.name]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": text(arm.name),
                "x": numbers(own["alone_mean_s"] * factor),
                "y": numbers(own["jct_mean_s"] * factor),
                "customdata": own["jobs"].tolist(),
                "line": line_of(index, len(run.summary.arms)),
                "marker": marker_of(index),
                "hovertemplate": f"%{{y:.3g}} {unit_name}; alone %{{x:.3g}} {unit_name} "
                "(%{customdata} jobs)",
            }
        )
    return traces


def _caption(run: RunData, rows: pd.DataFrame) -> str:
    """How much longer than alone the shortest jobs take, with the first arm and the best one."""
    shortest = rows[rows["group"] == 0].set_index("arm")
    arms = (run.summary.arms[0], best_other(run.summary))
    found = [
        f"{number(shortest['jct_mean_s'][arm.name] / shortest['alone_mean_s'][arm.name])} with "
        f"{arm.name}"
        for arm in arms
        if arm and arm.name in shortest.index
    ]
    below = "below the dashed line, jobs are faster than their fair share makes them"
    if not found:
        return sentence(below)
    alone = duration(float(shortest["alone_mean_s"].mean()))
    return sentence(
        f"the shortest jobs, {alone} alone at the fair share, take so many times as long as that: "
        f"{listed(found)}; {below}"
    )
