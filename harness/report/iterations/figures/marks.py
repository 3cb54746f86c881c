"""Packets that a measured arm's ports marked (ECN), over time and by job. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import SHARED, Figure, axis, colour, layout, numbers, text
from harness.report.iterations.data import RunData
from harness.report.iterations.documents import ArmRead
from harness.report.iterations.figures.load import ALL_JOBS
from harness.report.thinning import Floats, lengths, mean_of_runs, note
from harness.report.words import number

HEIGHT = 300

_DASHES = ("solid", "6px,3px", "2px,2px")


def marks_over_time(run: RunData, arm: ArmRead) -> Figure | None:
    """None where nothing was marked, or nothing could be."""
    if run.measured is None or not arm.transport.ecn_threshold:
        return None
    links = run.measured.links
    rows = links[links["arm"] == arm.name]
    named = rows.assign(job=rows["job"].fillna(ALL_JOBS), marked=rows["marked_packets"].fillna(0))
    total = float(named["marked"].sum())
    if not total:
        return None
    data, tables, most = [], [], 1
    for job in [*run.job_names, ALL_JOBS]:
        own = named[named["job"] == job]
        if not own["marked"].any():
            continue
        t_s, rate, samples = _rate(own)
        most = max(most, samples)
        data.append(_line(job, run.job_names, t_s, rate))
        tables.append(pd.DataFrame({"t_s": t_s, "marked_packets_per_s": rate}).assign(job=job))
    return Figure(
        name=f"marks_{arm.name}",
        title=f"{arm.name}: marked packets",
        caption=_caption(named, arm),
        plot={
            "data": data,
            "layout": layout(
                HEIGHT,
                xaxis=axis("", ticksuffix=" s", nticks=8),
                yaxis=axis("marked packets per second", rangemode="tozero", nticks=5),
            ),
        },
        table=pd.concat(tables, ignore_index=True).assign(arm=arm.name),
        note=" ".join(filter(None, (note(most, "samples"), "Packets are those of the emulation."))),
    )


def _rate(rows: pd.DataFrame) -> tuple[Floats, Floats, int]:
    """(ends of the samples, marked packets a second at all ports, samples a point) of a job."""
    by_time = rows.groupby("t_s")["marked"].sum()
    t_s = by_time.index.to_numpy(dtype=float)
    rates = by_time.to_numpy(dtype=float) / lengths(t_s)
    ends_s, means, samples = mean_of_runs(t_s, np.atleast_2d(rates))
    return ends_s, means[0], samples


def _line(job: str, job_names: list[str], t_s: Floats, rate: Floats) -> dict[str, Any]:
    index = job_names.index(job) if job in job_names else 0
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text(job),
        "showlegend": True,
        "x": numbers(t_s),
        "y": numbers(rate),
        "line": {
            "color": SHARED if job == ALL_JOBS else colour(index),
            "dash": _DASHES[index % len(_DASHES)],
            "width": 1.6,
            "shape": "vh",
        },
        "hovertemplate": "%{y:.3g} packets/s at %{x:.4g} s",
    }


def _caption(named: pd.DataFrame, arm: ArmRead) -> str:
    by_job = named.groupby("job")["marked"].sum()
    threshold = f"{number((arm.transport.ecn_threshold or 0) / 1e3)} kB"
    return (
        f"A packet is marked where it finds more than {threshold} waiting: the lower the lines, "
        f"the less the jobs meet; {by_job.idxmax()} has the most marks, "
        f"{number(float(by_job.max()))} of {number(float(by_job.sum()))}."
    )
