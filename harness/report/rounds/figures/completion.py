"""Completion times of all arms as cumulative distributions on one logarithmic axis. Pure."""

from __future__ import annotations

import numpy as np
import pandas as pd

from harness.report.figures.cumulative import cumulative, share_axis
from harness.report.figures.figure import Figure, layout
from harness.report.rounds.data import RunData
from harness.report.rounds.figures.looks import line_of
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.thinning import note
from harness.report.words import duration, long_time_unit, sentence

HEIGHT = 400


def completion_times(run: RunData) -> Figure | None:
    """All arms, each with the jobs of all its seeds; None where no job that counts has ended."""
    parts = [
        (index, arm.name, times_s)
        for index, arm in run.shown_arms
        if len(times_s := run.completion_s(arm.name))
    ]
    if not parts:
        return None
    everything_s = np.concatenate([times_s for *_, times_s in parts])
    ends_s = float(everything_s.min()), float(everything_s.max())
    unit = long_time_unit(float(np.median(everything_s)))
    data, tables, samples = [], [], 1.0
    for index, name, times_s in parts:
        line = line_of(index, len(run.summary.arms))
        trace, table, per_point = cumulative(times_s, unit, name, "jobs", "jct_s", line)
        data.append(trace)
        tables.append(table.assign(arm=name))
        samples = max(samples, per_point)
    medians = {name: float(np.median(times_s)) for _, name, times_s in parts}
    return Figure(
        name="all-times",
        title="Completion times of all jobs that count",
        caption=_caption(medians),
        plot={
            "data": data,
            "layout": layout(
                HEIGHT,
                xaxis=log_time_axis("completion time (log)", ends_s, unit),
                yaxis=share_axis("jobs"),
            ),
        },
        table=pd.concat(tables, ignore_index=True),
        note=note(samples, "jobs"),
    )


def _caption(medians: dict[str, float]) -> str:
    fastest, slowest = min(medians, key=medians.__getitem__), max(medians, key=medians.__getitem__)
    half = "half of the jobs are complete after"
    if len(medians) == 1:
        return sentence(f"{half} {duration(medians[fastest])}")
    return sentence(
        "the further left a line stands, the sooner the jobs of its arm are complete: "
        f"{half} {duration(medians[fastest])} with {fastest}, and after "
        f"{duration(medians[slowest])} with {slowest}"
    )
