"""Jobs, and their GPU time, by how many GPUs they ask for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from harness.report.figures.figure import Figure, axis, colour, layout, numbers, text
from harness.report.traces.data import ShownTrace
from harness.report.traces.sizes import SizeClass, size_classes
from harness.report.traces.tables import say_share
from harness.report.words import listed, sentence

HEIGHT = 320
_FILLS = ("", "/")


def jobs_by_gpus(traces: Sequence[ShownTrace]) -> Figure:
    """The share of jobs of each size."""
    classes = size_classes(traces)
    shares = [[each.jobs_share[index] for each in classes] for index in range(len(traces))]
    return _bars("jobs", "Jobs by GPUs", "jobs", traces, classes, dict(enumerate(shares)))


def gpu_time_by_gpus(traces: Sequence[ShownTrace]) -> Figure | None:
    """The share of GPU time of each size; None where it is not known."""
    classes = size_classes(traces)
    shares = {
        index: [each.gpu_time_share[index] or 0.0 for each in classes]
        for index, shown in enumerate(traces)
        if shown.description.gpu_time_s
    }
    if not shares:
        return None
    return _bars("gpu-time", "GPU time by GPUs of a job", "GPU time", traces, classes, shares)


def _bars(
    name: str,
    title: str,
    what: str,
    traces: Sequence[ShownTrace],
    classes: Sequence[SizeClass],
    shares: dict[int, list[float]],
) -> Figure:
    """shares: by the place of a trace, one a class."""
    names = [each.name for each in classes]
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": text(traces[index].label),
            "x": names,
            "y": numbers([share * 100 for share in found]),
            "marker": {"color": colour(index), "pattern": {"shape": _FILLS[index]}},
            "hovertemplate": f"%{{y:.3g}} % of {what} with %{{x}} GPUs",
        }
        for index, found in shares.items()
    ]
    tables = [
        pd.DataFrame({"trace": traces[index].label, "gpus": names, "share": found})
        for index, found in shares.items()
    ]
    return Figure(
        name=name,
        title=title,
        caption=_caption(what, traces, names, shares),
        plot={
            "data": data,
            "layout": layout(
                HEIGHT,
                barmode="group",
                showlegend=len(traces) > 1,
                xaxis=axis("GPUs of a job", type="category"),
                yaxis=axis(f"{what} (%)", rangemode="tozero"),
            ),
        },
        table=pd.concat(tables, ignore_index=True),
    )


def _caption(
    what: str,
    traces: Sequence[ShownTrace],
    names: Sequence[str],
    shares: dict[int, list[float]],
) -> str:
    found = []
    for index, values in shares.items():
        most = max(range(len(values)), key=values.__getitem__)
        of = f" of {traces[index].label}" if len(traces) > 1 else ""
        plural = "GPU" if names[most] == "1" else "GPUs"
        found.append(f"{names[most]} {plural} with {say_share(values[most])} of {what}{of}")
    return sentence(f"the highest bar is that of {listed(found)}")
