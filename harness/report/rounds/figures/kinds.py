"""Mean completion times of jobs of each model, or with as many GPUs, arm by arm. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from harness.report.figures.figure import Figure, axis, layout, numbers, text
from harness.report.rounds.comparison import best_other
from harness.report.rounds.data import RunData
from harness.report.rounds.figures.looks import marker_of
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.rounds.groups import by_gpus, by_model, mean_times
from harness.report.words import duration, long_time_unit, sentence

ROW_HEIGHT, REST = 28, 130


def models(run: RunData) -> Figure | None:
    """By model, from the slowest on; None where jobs have none, or all the same."""
    jobs = run.all_ended
    groups = by_model(jobs)
    rows = mean_times(jobs.loc[groups.index], groups)
    order = rows.groupby("group")["jct_mean_s"].max().sort_values(ascending=False).index
    return _dots(run, rows, list(order), "model", "jobs of model {}")


def gpus(run: RunData) -> Figure | None:
    """By GPUs of a job, from the fewest on; None where all have as many."""
    jobs = run.all_ended
    groups = by_gpus(jobs)
    order = list(groups.cat.categories)
    return _dots(run, mean_times(jobs, groups), order, "GPUs of a job", "jobs with {} GPUs")


def _dots(
    run: RunData, rows: pd.DataFrame, order: Sequence[str], what: str, say: str
) -> Figure | None:
    """One row a group, in this order, and in it one mark an arm."""
    if len(order) < 2:
        return None
    unit = long_time_unit(float(rows["jct_mean_s"].median()))
    ends_s = rows["jct_mean_s"].min(), rows["jct_mean_s"].max()
    categories = [text(group) for group in order]
    return Figure(
        name=f"by-{what.split()[0].lower()}",
        title=f"Completion time by {what}",
        caption=_caption(run, rows, say),
        plot={
            "data": _marks(run, rows, unit),
            "layout": layout(
                REST + ROW_HEIGHT * len(order),
                xaxis=log_time_axis("mean time (log)", ends_s, unit),
                yaxis=axis(
                    "",
                    type="category",
                    categoryorder="array",
                    categoryarray=categories,
                    range=[len(order) - 0.5, -0.5],
                ),
            ),
        },
        table=rows,
    )


def _marks(run: RunData, rows: pd.DataFrame, unit: tuple[float, str]) -> list[dict[str, Any]]:
    factor, unit_name = unit
    traces = []
    for index, arm in run.shown_arms:
        own = rows[rows["arm"] == arm.name]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": text(arm.name),
                "x": numbers(own["jct_mean_s"] * factor),
                "y": [text(str(group)) for group in own["group"]],
                "customdata": own["jobs"].tolist(),
                "marker": marker_of(index),
                "hovertemplate": f"%{{x:.3g}} {unit_name} (%{{customdata}} jobs)",
            }
        )
    return traces


def _caption(run: RunData, rows: pd.DataFrame, say: str) -> str:
    """Which group gains most from the first arm to the best one, and which least."""
    first, other = run.summary.arms[0], best_other(run.summary)
    times = rows.pivot_table(index="group", columns="arm", values="jct_mean_s", observed=True)
    if other is None or first.name not in times or other.name not in times:
        mean_s = times.mean(axis=1)
        return sentence(
            f"{say.format(mean_s.idxmax())} take longest, {duration(float(mean_s.max()))} on "
            f"average, and {say.format(mean_s.idxmin())} shortest, {duration(float(mean_s.min()))}"
        )
    ratios = (times[first.name] / times[other.name]).dropna()
    gains = {str(group): float(ratio) for group, ratio in ratios.items()}
    most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
    return sentence(
        f"from {first.name} to {other.name}, {say.format(most)} gain most ({gains[most]:.2f} times "
        f"as fast) and {say.format(least)} least ({gains[least]:.2f} times)"
    )
