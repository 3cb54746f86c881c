"""CPUs, memory and storage bandwidth that jobs are given over time, a panel each. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import INK, Figure, axis, layout, numbers, text
from harness.report.rounds.data import RunData
from harness.report.rounds.documents import ArmRead
from harness.report.rounds.figures.looks import line_of
from harness.report.rounds.leases import SHARES
from harness.report.rounds.occupancy import Occupancy
from harness.report.words import counted, long_time_unit, percent, sentence

PANEL, REST, GAP = 130, 100, 34
"""Heights in pixels."""

_NAMES = {"cpus": "CPUs", "memory_bytes": "memory", "storage_bytes_per_s": "storage bandwidth"}
_S_PER_D, _DAYS_FROM = 86400.0, 3.0


def shares(run: RunData) -> Figure | None:
    """Every arm that ran, with its first seed; None where none did."""
    arms = [
        (index, arm, run.leases.occupancy[arm.name])
        for index, arm in enumerate(run.summary.arms)
        if arm.name in run.leases.occupancy
    ]
    resources = [name for name in SHARES if all(_capacity(arm, name) for _, arm, _ in arms)]
    if not arms or not resources:
        return None
    end_s = max(float(each["cpus"].edges_s[-1]) for *_, each in arms)
    unit = (1 / _S_PER_D, "d") if end_s > _DAYS_FROM * _S_PER_D else long_time_unit(end_s)
    rounds = max(each["cpus"].rounds for *_, each in arms)
    return Figure(
        name="shares",
        title="CPU and memory given to jobs",
        caption=_caption({arm.name: _share(arm, each, "cpus") for _, arm, each in arms}),
        plot={
            "data": [
                _line(run, panel, index, arm, each, name, unit)
                for panel, name in enumerate(resources, start=1)
                for index, arm, each in arms
            ],
            "layout": _layout(resources, end_s, unit),
        },
        table=pd.concat(
            [_table(arm, each, name) for name in resources for _, arm, each in arms],
            ignore_index=True,
        ),
        note=f"Each point is the mean of {counted(rounds, 'round', 'rounds')}.",
    )


def _capacity(arm: ArmRead, resource: str) -> float:
    """Of the arm's cluster; 0 where it is not limited."""
    return sum(servers.count * (getattr(servers, resource) or 0.0) for servers in arm.cluster)


def _share(arm: ArmRead, occupancy: dict[str, Occupancy], resource: str) -> float:
    return occupancy[resource].mean / _capacity(arm, resource)


def _line(
    run: RunData,
    panel: int,
    index: int,
    arm: ArmRead,
    occupancy: dict[str, Occupancy],
    resource: str,
    unit: tuple[float, str],
) -> dict[str, Any]:
    held = occupancy[resource].held / _capacity(arm, resource) * 100
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text(arm.name),
        "legendgroup": text(arm.name),
        "showlegend": panel == 1,
        "x": numbers(occupancy[resource].edges_s * unit[0]),
        "y": numbers(np.concatenate((held, held[-1:]))),
        "xaxis": _axis_name("x", panel),
        "yaxis": _axis_name("y", panel),
        "line": line_of(index, len(run.summary.arms)) | {"width": 1.8, "shape": "hv"},
        "hovertemplate": f"%{{y:.3g}} % from %{{x:.4g}} {unit[1]}",
    }


def _axis_name(letter: str, panel: int) -> str:
    return letter if panel == 1 else f"{letter}{panel}"


def _table(arm: ArmRead, occupancy: dict[str, Occupancy], resource: str) -> pd.DataFrame:
    found = occupancy[resource]
    return pd.DataFrame(
        {
            "arm": arm.name,
            "seed": arm.runs[0].seed,
            "resource": resource,
            "from_s": found.edges_s[:-1],
            "until_s": found.edges_s[1:],
            "held": found.held,
            "share": found.held / _capacity(arm, resource),
        }
    )


def _caption(cpus: dict[str, float]) -> str:
    most, least = max(cpus, key=cpus.__getitem__), min(cpus, key=cpus.__getitem__)
    said = f"{percent(cpus[most])} of all CPUs with {most}"
    if most != least:
        said += f", the most, and {percent(cpus[least])} with {least}, the least"
    return sentence(
        "the higher a line, the more of what the cluster has is given to jobs, whether they use it "
        f"or not: on average {said}"
    )


def _layout(resources: list[str], end_s: float, unit: tuple[float, str]) -> dict[str, Any]:
    factor, unit_name = unit
    inside = len(resources) * PANEL + (len(resources) - 1) * GAP
    axes: dict[str, Any] = {}
    labels = []
    for panel, resource in enumerate(resources, start=1):
        top = 1 - (panel - 1) * (PANEL + GAP) / inside
        x, y = _axis_name("x", panel), _axis_name("y", panel)
        is_last = panel == len(resources)
        axes[f"xaxis{x[1:]}"] = axis(
            "time since the trace began" if is_last else "",
            range=[0, end_s * factor],
            anchor=y,
            matches=None if panel == 1 else "x",
            showticklabels=is_last,
            ticksuffix=f" {unit_name}",
            nticks=6,
        )
        axes[f"yaxis{y[1:]}"] = axis(
            "",
            range=[0, 104],
            domain=[max(top - PANEL / inside, 0.0), top],
            anchor=x,
            tickvals=[0, 50, 100],
            ticktext=["0 %", "50 %", "100 %"],
        )
        labels.append(_label(_NAMES[resource], y))
    return layout(
        inside + REST,
        margin={"l": 58, "r": 18, "t": 54, "b": 46},
        annotations=labels,
        legend={"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
        **axes,
    )


def _label(words: str, y: str) -> dict[str, Any]:
    """Above a panel."""
    return {
        "text": words,
        "xref": "paper",
        "x": 0,
        "yref": f"{y} domain",
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12.5, "color": INK},
    }
