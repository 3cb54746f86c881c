"""The load of the busiest contended link over time, stacked by job, under the prediction. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import (
    INK,
    MUTED,
    SHARED,
    Figure,
    axis,
    colour,
    grey_part,
    layout,
    numbers,
    pattern,
    text,
)
from harness.report.iterations.data import RunData
from harness.report.iterations.documents import ArmRead, EventRead
from harness.report.iterations.figures.changes import capacity_lines, event_labels, event_lines
from harness.report.iterations.figures.load import (
    ALL_JOBS,
    SENDING_SHARE,
    Load,
    first_iterations,
    loads_of,
)
from harness.report.thinning import mean_of_runs, note
from harness.report.words import bit_rate, percent, port_name


def utilisation(run: RunData, arm: ArmRead, ports: list[str]) -> Figure | None:
    """The first of ``ports`` that the arm has samples of; None where it has none of any."""
    sides = [(name, side) for name, side in run.sides if (side.links["arm"] == arm.name).any()]
    if not sides:
        return None
    name, side = sides[0]
    here = side.links[side.links["arm"] == arm.name]
    present = set(here["port"])
    port = next(port for port in ports if port in present)
    loads = loads_of(here[here["port"] == port])
    predicted: list[Load] = []
    if name == "measured" and run.predicted:
        rows = run.predicted.links
        predicted = loads_of(rows[(rows["arm"] == arm.name) & (rows["port"] == port)])
    window = first_iterations(side, arm.name, loads)
    whole, below = _areas(loads, run.job_names, "x2", "y2", legend=False)
    close, above = _areas(
        [load.between(*window) for load in loads], run.job_names, "x", "y", legend=True
    )
    return Figure(
        name=f"link_{arm.name}",
        title=f"{arm.name}: link load",
        caption=_caption(port, loads, predicted, name, arm.events),
        plot={
            "data": [*close, *_totals(predicted, window), *whole],
            "layout": _layout(loads, predicted, window, arm.events, port),
        },
        table=_table(loads, arm.name, port, name, predicted),
        note=" ".join((note(above, "samples above"), note(below, "samples below and in the CSV"))),
    )


def _areas(
    loads: list[Load], job_names: list[str], x: str, y: str, *, legend: bool
) -> tuple[list[dict[str, Any]], int]:
    """Areas stacked by job; jobs on networks of their own are lines, for they do not add up."""
    traces, most = [], 1
    stacked = len(loads) == 1
    # Outlines would fill the whole run with the colour of the job on top.
    width = 1.8 if not stacked else 0.8 if legend else 0
    for load in loads:
        if load.t_s.size < 2:
            continue
        t_s, rates, samples = mean_of_runs(load.t_s, load.rate_bps)
        most = max(most, samples)
        for job, rate in zip(load.jobs, rates, strict=True):
            if not stacked and not rate.any():
                continue
            index = job_names.index(job) if job in job_names else 0
            tint = SHARED if job == ALL_JOBS else colour(index)
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": text(job),
                    "legendgroup": text(job),
                    "showlegend": legend,
                    "x": numbers(t_s),
                    "y": numbers(rate / 1e9),
                    "xaxis": x,
                    "yaxis": y,
                    "line": {"color": tint, "width": width, "shape": "vh"},
                    "hovertemplate": "%{y:.3g} Gbit/s",
                }
                | (_fill(tint, index, y) if stacked else {})
            )
    return traces, most


def _totals(predicted: list[Load], window: tuple[float, float]) -> list[dict[str, Any]]:
    """The prediction's load in the window, one line a network."""
    traces: list[dict[str, Any]] = []
    for load in predicted:
        near = load.between(*window)
        if near.t_s.size < 2:
            continue
        t_s, rates, _ = mean_of_runs(near.t_s, near.rate_bps.sum(axis=0, keepdims=True))
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": "predicted load",
                "legendgroup": "predicted",
                "showlegend": not traces,
                "x": numbers(t_s),
                "y": numbers(rates[0] / 1e9),
                "line": {"color": INK, "width": 1.4, "shape": "vh", "dash": "4px,2px"},
                "hovertemplate": "%{y:.3g} Gbit/s",
            }
        )
    return traces


def _fill(tint: str, index: int, group: str) -> dict[str, Any]:
    red, green, blue = (int(tint[start : start + 2], 16) for start in (1, 3, 5))
    return {
        "stackgroup": group,
        "fillcolor": f"rgba({red},{green},{blue},0.55)",
        "fillpattern": {"shape": pattern(index), "fillmode": "overlay"},
    }


def _caption(
    port: str, loads: list[Load], predicted: list[Load], side: str, events: Sequence[EventRead]
) -> str:
    mean = float(np.mean([load.mean_share for load in loads]))
    words = f"{_subject(loads)} {percent(mean)} of {port_name(port)} on average"
    if predicted:
        foreseen = float(np.mean([load.mean_share for load in predicted]))
        words += f" (predicted {percent(foreseen)})"
    elif side == "predicted":
        words += ", as predicted"
    changes = "; each dashed vertical line is a change of a link" if events else ""
    return f"{words}{_turns(loads)}{changes}."


def _subject(loads: list[Load]) -> str:
    if len(loads) > 1:
        return "Each job, alone on its own copy of the link, fills"
    if len(loads[0].jobs) == 1 and loads[0].jobs != (ALL_JOBS,):
        return f"{loads[0].jobs[0]} fills"
    return "The jobs together fill"


def _turns(loads: list[Load]) -> str:
    """How often jobs sent at once, where the samples can tell."""
    if len(loads) > 1 or len(loads[0].jobs) < 2:
        return ""
    load = loads[0]
    sending = (load.rate_bps > load.capacity_bps.max() * SENDING_SHARE).sum(axis=0)
    busy = int((sending > 0).sum())
    if busy == 0:
        return ""
    shared = float((sending > 1).sum()) / busy
    often = f"{percent(shared)} of the busy samples" if shared else "no sample"
    return f", and in {often} more than one of them sends"


def _table(
    loads: list[Load], arm: str, port: str, side: str, predicted: list[Load]
) -> pd.DataFrame:
    """All drawn series, long: one row a job and sample, thinned as drawn."""
    parts = []
    for origin, group in ((side, loads), ("predicted", predicted)):
        for load in group:
            t_s, rates, _ = mean_of_runs(load.t_s, load.rate_bps)
            for job, rate in zip(load.jobs, rates, strict=True):
                parts.append(
                    pd.DataFrame({"t_s": t_s, "rate_bps": rate}).assign(
                        arm=arm, side=origin, network=load.network, port=port, job=job
                    )
                )
    return pd.concat(parts, ignore_index=True)


def _layout(
    loads: list[Load],
    predicted: list[Load],
    window: tuple[float, float],
    events: Sequence[EventRead],
    port: str,
) -> dict[str, Any]:
    first = loads[0]
    peak = max(float(load.rate_bps.sum(axis=0).max()) for load in [*loads, *predicted])
    top = max(peak, float(first.capacity_bps.max())) * 1.16 / 1e9
    whole = (0.0, max(float(load.t_s[-1]) for load in loads))
    shapes, labels = [], []
    for x, y, span in (("x", "y", window), ("x2", "y2", whole)):
        shapes += capacity_lines(first.t_s, first.capacity_bps, x, y, span)
        shapes += event_lines(events, x, y, span)
        labels += event_labels(events, x, y, span, port)
    rate_axis = axis("Gbit/s", range=[0, top], nticks=5)
    shown = first.between(*window).capacity_bps
    capacity_bps = float(shown[-1] if shown.size else first.capacity_bps[-1])
    return layout(
        440,
        margin={"l": 58, "r": 18, "t": 12, "b": 28},
        hovermode="x unified",
        xaxis=axis("", range=list(window), anchor="y", ticksuffix=" s", nticks=8),
        yaxis=rate_axis | {"domain": [0.46, 1]},
        xaxis2=axis("", range=list(whole), anchor="y2", ticksuffix=" s", nticks=8),
        yaxis2=rate_axis | {"domain": [0, 0.25], "anchor": "x2", "nticks": 3},
        shapes=[*shapes, grey_part("x2", "y2", *window)],
        annotations=[
            _label(
                f"capacity {bit_rate(capacity_bps)}",
                "x domain",
                1,
                "y",
                capacity_bps / 1e9,
                "right",
            ),
            _label("The whole run; in grey the part above", "paper", 0, "paper", 0.27, "left"),
            *labels,
        ],
    )


def _label(words: str, xref: str, x: float, yref: str, y: float, anchor: str) -> dict[str, Any]:
    return {
        "text": words,
        "xref": xref,
        "x": x,
        "yref": yref,
        "y": y,
        "xanchor": anchor,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11.5, "color": MUTED},
    }
