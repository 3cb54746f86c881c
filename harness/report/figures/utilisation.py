"""The load of the busiest contended link over time, stacked by job, under the prediction. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from harness.report.data import RunData, Side
from harness.report.documents import ArmRead
from harness.report.figures.figure import (
    GRID,
    INK,
    MUTED,
    SHARED,
    Figure,
    axis,
    colour,
    layout,
    numbers,
    pattern,
    text,
)
from harness.report.thinning import Floats, mean_of_runs, note
from harness.report.words import bit_rate, percent

ZOOM_ITERATIONS = 6
SENDING_SHARE = 0.05
"""Share of the capacity above which a job counts as sending in a sample."""

ALL_JOBS = "all jobs (one queue)"


@dataclass(frozen=True)
class Load:
    """What crossed one port of one network. rate_bps: shape (jobs, samples); t_s ends a sample."""

    network: str
    jobs: tuple[str, ...]
    t_s: Floats
    rate_bps: Floats
    capacity_bps: float

    def between(self, start_s: float, end_s: float) -> Load:
        """The samples that end in this window."""
        inside = (self.t_s >= start_s) & (self.t_s <= end_s)
        return Load(
            self.network, self.jobs, self.t_s[inside], self.rate_bps[:, inside], self.capacity_bps
        )

    @property
    def mean_share(self) -> float:
        """Mean load over the capacity."""
        return float(self.rate_bps.sum(axis=0).mean()) / self.capacity_bps


def ports_by_load(run: RunData) -> list[str]:
    """All ports that have samples: the contended ones first, and among them the busiest."""
    tables = [side.links for _, side in run.sides if len(side.links)]
    if not tables:
        return []
    load = tables[0].groupby("port")["rate_bps"].sum().sort_values(ascending=False, kind="stable")
    contended = {port for circle in run.circles for port in circle.ports}
    ports = [str(port) for port in load.index]
    return [port for port in ports if port in contended] + [
        port for port in ports if port not in contended
    ]


def utilisation(run: RunData, arm: ArmRead, ports: list[str]) -> Figure | None:
    """The first of ``ports`` that the arm has samples of; None where it has none of any."""
    sides = [(name, side) for name, side in run.sides if (side.links["arm"] == arm.name).any()]
    if not sides:
        return None
    name, side = sides[0]
    here = side.links[side.links["arm"] == arm.name]
    present = set(here["port"])
    port = next(port for port in ports if port in present)
    loads = _loads(here[here["port"] == port])
    predicted: list[Load] = []
    if name == "measured" and run.predicted:
        rows = run.predicted.links
        predicted = _loads(rows[(rows["arm"] == arm.name) & (rows["port"] == port)])
    window = _zoom(side, arm.name, loads)
    whole, samples = _areas(loads, run.job_names, "x2", "y2", legend=False)
    close, _ = _areas(
        [load.between(*window) for load in loads], run.job_names, "x", "y", legend=True
    )
    capacity_bps = loads[0].capacity_bps
    return Figure(
        name=f"link-{arm.name}",
        title=arm.name,
        caption=_caption(port, loads, predicted, name),
        plot={
            "data": [*close, *_totals(predicted, window), *whole],
            "layout": _layout(loads, predicted, capacity_bps, window),
        },
        table=_table(loads, arm.name, port, name, predicted),
        note=note(samples, "samples"),
    )


def _loads(rows: pd.DataFrame) -> list[Load]:
    """One load a network: a dedicated arm has one network a job."""
    found = []
    named = rows.assign(job=rows["job"].fillna(ALL_JOBS))
    for network, group in named.groupby("network", sort=False):
        wide = group.pivot_table(index="t_s", columns="job", values="rate_bps", aggfunc="sum")
        found.append(
            Load(
                str(network),
                tuple(str(job) for job in wide.columns),
                wide.index.to_numpy(dtype=float),
                wide.fillna(0.0).to_numpy(dtype=float).T,
                float(group["capacity_bps"].iloc[0]),
            )
        )
    return found


def _zoom(side: Side, arm: str, loads: list[Load]) -> tuple[float, float]:
    """The first few iterations after the warm-up; all there is where none was counted."""
    rows = side.iterations[(side.iterations["arm"] == arm) & side.iterations["counted"]]
    if rows.empty:
        return min(float(load.t_s[0]) for load in loads), max(float(load.t_s[-1]) for load in loads)
    start_s = float(rows["start_s"].min())
    return start_s, start_s + ZOOM_ITERATIONS * float(rows["iteration_s"].mean())


def _areas(
    loads: list[Load], job_names: list[str], x: str, y: str, *, legend: bool
) -> tuple[list[dict[str, Any]], int]:
    """Areas stacked by job; side by side networks are drawn over each other, not stacked."""
    traces, most = [], 1
    for number, load in enumerate(loads):
        if load.t_s.size < 2:
            continue
        t_s, rates, samples = mean_of_runs(load.t_s, load.rate_bps)
        most = max(most, samples)
        for job, rate in zip(load.jobs, rates, strict=True):
            if load.jobs != (ALL_JOBS,) and not rate.any() and len(loads) > 1:
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
                    "stackgroup": f"{y}-{number}",
                    "line": {"color": tint, "width": 0.8, "shape": "vh"},
                    "fillcolor": _faint(tint, 0.55 if len(loads) == 1 else 0.35),
                    "fillpattern": {"shape": pattern(index), "fillmode": "overlay"},
                    "hovertemplate": "%{y:.3g} Gbit/s",
                }
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


def _faint(tint: str, opacity: float) -> str:
    red, green, blue = (int(tint[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _caption(port: str, loads: list[Load], predicted: list[Load], side: str) -> str:
    mean = float(np.mean([load.mean_share for load in loads]))
    words = f"{_subject(loads)} {percent(mean)} of {port} on average"
    if predicted:
        foreseen = float(np.mean([load.mean_share for load in predicted]))
        words += f" (predicted {percent(foreseen)})"
    elif side == "predicted":
        words += ", as predicted"
    return f"{words}{_turns(loads)}."


def _subject(loads: list[Load]) -> str:
    if len(loads) > 1:
        return "Each job, alone on its own copy of the link, fills"
    return "The jobs together fill"


def _turns(loads: list[Load]) -> str:
    """How often jobs sent at once, where the samples can tell."""
    if len(loads) > 1 or len(loads[0].jobs) < 2:
        return ""
    load = loads[0]
    sending = (load.rate_bps > load.capacity_bps * SENDING_SHARE).sum(axis=0)
    busy = int((sending > 0).sum())
    if busy == 0:
        return ""
    shared = percent(float((sending > 1).sum()) / busy)
    return f", and in {shared} of the busy samples more than one sends"


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
    loads: list[Load], predicted: list[Load], capacity_bps: float, window: tuple[float, float]
) -> dict[str, Any]:
    peak = max(float(load.rate_bps.sum(axis=0).max()) for load in [*loads, *predicted])
    top = max(peak, capacity_bps) * 1.16 / 1e9
    end_s = max(float(load.t_s[-1]) for load in loads)
    rate_axis = axis("Gbit/s", range=[0, top], nticks=5)
    lines = [
        {
            "type": "line",
            "xref": f"{x} domain",
            "yref": y,
            "x0": 0,
            "x1": 1,
            "y0": capacity_bps / 1e9,
            "y1": capacity_bps / 1e9,
            "line": {"color": MUTED, "width": 1.2, "dash": "dot"},
        }
        for x, y in (("x", "y"), ("x2", "y2"))
    ]
    band = {
        "type": "rect",
        "xref": "x2",
        "yref": "y2 domain",
        "x0": window[0],
        "x1": window[1],
        "y0": 0,
        "y1": 1,
        "fillcolor": GRID,
        "opacity": 0.9,
        "line": {"width": 0},
        "layer": "below",
    }
    return layout(
        460,
        hovermode="x unified",
        xaxis=axis("", range=list(window), anchor="y", ticksuffix=" s", nticks=8),
        yaxis=rate_axis | {"domain": [0.46, 1]},
        xaxis2=axis("", range=[0, end_s], anchor="y2", ticksuffix=" s", nticks=8),
        yaxis2=rate_axis | {"domain": [0, 0.27], "anchor": "x2", "nticks": 3},
        shapes=[*lines, band],
        annotations=[
            _label(
                f"capacity {bit_rate(capacity_bps)}",
                "x domain",
                1,
                "y",
                capacity_bps / 1e9,
                "right",
            ),
            _label("the whole run; in grey the part above", "paper", 0, "paper", 0.365, "left"),
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
        "yanchor": "bottom" if xref != "paper" else "middle",
        "showarrow": False,
        "font": {"size": 11.5, "color": MUTED},
    }
