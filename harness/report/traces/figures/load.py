"""GPUs in use over time if no job waited: the load that a trace offers. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import Figure, axis, layout, numbers, text
from harness.report.rounds.figures.looks import line_of
from harness.report.traces.data import ShownTrace, long_time
from harness.report.words import listed, number, sentence
from traces.description import run_times_s
from traces.offered_load import offered_load

HEIGHT = 360
MAX_POINTS = 600

_ROUNDING = 1e-6  # of a step: what is left of a span is no step
_S_PER_MIN, _S_PER_H, _S_PER_D = 60.0, 3600.0, 86400.0
_STEPS_S = (
    *(_S_PER_MIN * minutes for minutes in (1, 5, 15)),
    *(_S_PER_H * hours for hours in (1, 3, 6)),
    *(_S_PER_D * days for days in (1, 7)),
)


def load(traces: Sequence[ShownTrace]) -> Figure | None:
    """Each trace from its first submission to its last; None where no load is known."""
    shown = [
        (index, each) for index, each in enumerate(traces) if each.description.mean_gpus is not None
    ]
    if not shown:
        return None
    span_s = max(each.description.span_s for _, each in shown)
    step_s = _step_s(span_s)
    unit = (1 / _S_PER_D, "d") if span_s > 3 * _S_PER_D else (1 / _S_PER_H, "h")
    tables = [_means(each, step_s) for _, each in shown]
    return Figure(
        name="load",
        title="GPUs in use if no job waited",
        caption=_caption([each for _, each in shown], named=len(traces) > 1),
        plot={
            "data": [
                _line(index, len(traces), each, table, unit)
                for (index, each), table in zip(shown, tables, strict=True)
            ],
            "layout": layout(
                HEIGHT,
                xaxis=axis(
                    "time since the first submission",
                    range=[0, span_s * unit[0]],
                    ticksuffix=f" {unit[1]}",
                ),
                yaxis=axis("GPUs", rangemode="tozero"),
            ),
        },
        table=pd.concat(tables, ignore_index=True),
        note=f"Each point is the mean of {long_time(step_s)}.",
    )


def _step_s(span_s: float) -> float:
    """The least step of a length that people use with which MAX_POINTS are not exceeded."""
    fitting = (step_s for step_s in _STEPS_S if span_s / step_s <= MAX_POINTS)
    return next(fitting, span_s / MAX_POINTS)


def _means(shown: ShownTrace, step_s: float) -> pd.DataFrame:
    jobs = shown.trace.jobs
    run_s = run_times_s(jobs)
    timed = ~np.isnan(run_s)
    submit_s, num_gpus = (
        jobs[name].to_numpy(dtype="float64")[timed] for name in ("submit_s", "num_gpus")
    )
    first_s, last_s = (float(jobs["submit_s"].iloc[place]) for place in (0, -1))
    steps = math.ceil((last_s - first_s) / step_s - _ROUNDING)
    edges_s = np.append(first_s + step_s * np.arange(max(steps, 1)), last_s)
    return pd.DataFrame(
        {
            "trace": shown.label,
            "from_s": edges_s[:-1] - first_s,
            "until_s": edges_s[1:] - first_s,
            "gpus": offered_load(submit_s, run_s[timed], num_gpus).means(edges_s),
        }
    )


def _line(
    index: int, count: int, shown: ShownTrace, table: pd.DataFrame, unit: tuple[float, str]
) -> dict[str, Any]:
    factor, unit_name = unit
    until_s = table["until_s"].iloc[-1:]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text(shown.label),
        "x": numbers(pd.concat([table["from_s"], until_s]) * factor),
        "y": numbers(pd.concat([table["gpus"], table["gpus"].iloc[-1:]])),
        "line": line_of(index, count) | {"shape": "hv", "width": 1.4},
        "hovertemplate": f"%{{y:.4g}} GPUs from %{{x:.4g}} {unit_name}",
    }


def _caption(traces: Sequence[ShownTrace], *, named: bool) -> str:
    found = [
        f"{number(each.description.mean_gpus or 0)} GPUs on average and "
        f"{number(each.description.peak_gpus or 0)} at the most"
        + (f" for {each.label}" if named else "")
        for each in traces
    ]
    return sentence(
        f"a cluster in which no job waits has these GPUs in use while jobs come in: {listed(found)}"
    )
