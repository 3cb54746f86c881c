"""Run times, gaps between submissions and times in the queue as distributions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from harness.report.figures.cumulative import cumulative, share_axis
from harness.report.figures.figure import Figure, layout
from harness.report.rounds.figures.looks import line_of
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.thinning import Floats, note
from harness.report.traces.data import ShownTrace, long_time
from harness.report.words import listed, long_time_unit, percent, sentence
from traces.description import gaps_s, run_times_s

HEIGHT = 340


def run_times(traces: Sequence[ShownTrace]) -> Figure | None:
    """None where no run time is known."""
    return _times(traces, "run-times", "Run times", "jobs", "half of jobs run for", run_times_s)


def gaps(traces: Sequence[ShownTrace]) -> Figure | None:
    """None where no trace has jobs that come one after the other."""
    half = "half of jobs come after the one before by"
    return _times(traces, "gaps", "Gaps between submissions", "gaps", half, gaps_s)


def queue_times(traces: Sequence[ShownTrace]) -> Figure | None:
    """None where no time in the queue is known."""
    return _times(
        traces,
        "queue-times",
        "Times in the queue, where the trace was recorded",
        "jobs",
        "half of jobs wait for",
        lambda jobs: jobs["queue_s"].to_numpy(dtype="float64"),
    )


def _times(
    traces: Sequence[ShownTrace],
    name: str,
    title: str,
    what: str,
    half: str,
    times_of: Callable[[pd.DataFrame], Floats],
) -> Figure | None:
    """half: words that come before the median."""
    known = [(index, each, _known(times_of(each.trace.jobs))) for index, each in enumerate(traces)]
    parts = [(index, each.label, times_s) for index, each, times_s in known if times_s.any()]
    if not parts:
        return None
    positive_s = np.concatenate([times_s[times_s > 0] for *_, times_s in parts])
    unit = long_time_unit(float(np.median(positive_s)))
    data, tables, samples = [], [], 1.0
    for index, label, times_s in parts:
        line = line_of(index, len(traces))
        trace, table, per_point = cumulative(times_s, unit, label, what, "time_s", line)
        data.append(trace)
        tables.append(table.assign(trace=label))
        samples = max(samples, per_point)
    ends_s = float(positive_s.min()), float(positive_s.max())
    return Figure(
        name=name,
        title=title,
        caption=_caption(
            half, what, [(label, times_s) for _, label, times_s in parts], len(traces)
        ),
        plot={
            "data": data,
            "layout": layout(
                HEIGHT,
                showlegend=len(traces) > 1,
                xaxis=log_time_axis("time (log)", ends_s, unit),
                yaxis=share_axis(what),
            ),
        },
        table=pd.concat(tables, ignore_index=True),
        note=note(samples, what),
    )


def _known(times_s: Floats) -> Floats:
    return times_s[~np.isnan(times_s)]


def _caption(half: str, what: str, parts: Sequence[tuple[str, Floats]], count: int) -> str:
    found = []
    for label, times_s in parts:
        median_s = float(np.quantile(times_s, 0.5, method="inverted_cdf"))
        none = np.count_nonzero(times_s == 0) / times_s.size
        words = f"at most {long_time(median_s)}"
        if none:
            words += f" ({percent(none)} of {what} are of 0 s and left of the axis)"
        found.append(words + (f" in {label}" if count > 1 else ""))
    return sentence(f"{half} {listed(found)}")
