"""CPUs, memory and storage bandwidth that jobs are given over time, a panel each. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import Figure, layout, numbers, text
from harness.report.rounds.data import RunData
from harness.report.rounds.documents import ArmRead
from harness.report.rounds.figures.looks import line_of
from harness.report.rounds.figures.panels import Panels, axis_name, panel_name
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
        "xaxis": axis_name("x", panel),
        "yaxis": axis_name("y", panel),
        "line": line_of(index, len(run.summary.arms)) | {"width": 1.8, "shape": "hv"},
        "hovertemplate": f"%{{y:.3g}} % from %{{x:.4g}} {unit[1]}",
    }


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
    panels = Panels(len(resources), PANEL, GAP, end_s, unit)
    percents = {
        "range": [0, 104],
        "tickvals": [0, 50, 100],
        "ticktext": ["0 %", "50 %", "100 %"],
    }
    axes: dict[str, Any] = {}
    names = []
    for panel, resource in enumerate(resources, start=1):
        axes |= panels.axes(panel, x={"nticks": 6}, y=percents)
        names.append(panel_name(_NAMES[resource], panel))
    return layout(
        panels.height_px + REST,
        margin={"l": 58, "r": 18, "t": 54, "b": 46},
        annotations=names,
        legend={"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
        **axes,
    )
