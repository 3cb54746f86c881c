"""GPUs in use over time, one panel an arm on the same time axis. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import (
    MUTED,
    Figure,
    colour,
    grey_part,
    layout,
    numbers,
    text,
)
from harness.report.rounds.data import RunData
from harness.report.rounds.documents import ArmRead
from harness.report.rounds.figures.panels import Panels, axis_name, panel_name
from harness.report.rounds.occupancy import Occupancy
from harness.report.words import counted, listed, percent, sentence

PANEL, REST, GAP = 96, 70, 30
"""Heights in pixels."""

_S_PER_H, _S_PER_D = 3600.0, 86400.0
_DAYS_FROM = 3.0


def gpus_in_use(run: RunData) -> Figure | None:
    """Every arm that ran, with its first seed; None where none did."""
    arms = [
        (index, arm, run.leases.occupancy[arm.name]["gpus"])
        for index, arm in enumerate(run.summary.arms)
        if arm.name in run.leases.occupancy
    ]
    if not arms:
        return None
    end_s = max(float(occupancy.edges_s[-1]) for *_, occupancy in arms)
    unit = (1 / _S_PER_D, "d") if end_s > _DAYS_FROM * _S_PER_D else (1 / _S_PER_H, "h")
    window = run.counted_submissions_s
    rounds = max(occupancy.rounds for *_, occupancy in arms)
    return Figure(
        name="gpus-in-use",
        title="GPUs in use",
        caption=_caption([arm for _, arm, _ in arms], has_window=window is not None),
        plot={
            "data": [
                _line(panel, index, arm, occupancy, unit)
                for panel, (index, arm, occupancy) in enumerate(arms, start=1)
            ],
            "layout": _layout([arm for _, arm, _ in arms], end_s, unit, window),
        },
        table=pd.concat([_table(arm, occupancy) for _, arm, occupancy in arms], ignore_index=True),
        note=f"Each point is the mean of {counted(rounds, 'round', 'rounds')}.",
    )


def _line(
    panel: int, index: int, arm: ArmRead, occupancy: Occupancy, unit: tuple[float, str]
) -> dict[str, Any]:
    factor, unit_name = unit
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text(arm.name),
        "showlegend": False,
        "x": numbers(occupancy.edges_s * factor),
        "y": numbers(np.concatenate((occupancy.held, occupancy.held[-1:]))),
        "xaxis": axis_name("x", panel),
        "yaxis": axis_name("y", panel),
        "line": {"color": colour(index), "width": 1.2, "shape": "hv"},
        "fill": "tozeroy",
        "hovertemplate": f"%{{y:.4g}} GPUs from %{{x:.4g}} {unit_name}",
    }


def _table(arm: ArmRead, occupancy: Occupancy) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "arm": arm.name,
            "seed": arm.runs[0].seed,
            "from_s": occupancy.edges_s[:-1],
            "until_s": occupancy.edges_s[1:],
            "gpus_in_use": occupancy.held,
        }
    )


def _caption(arms: list[ArmRead], *, has_window: bool) -> str:
    used = [
        f"{percent(arm.runs[0].gpu_utilisation)} with {arm.name}"
        for arm in arms
        if arm.runs[0].gpu_utilisation is not None
    ]
    seeds = listed([str(seed) for seed in dict.fromkeys(arm.runs[0].seed for arm in arms)])
    grey = "; the jobs that count were submitted in the grey part" if has_window else ""
    return sentence(
        "where a line lies on the dotted one, every GPU is taken; over the whole run, jobs hold "
        f"{listed(used) or 'none'} of the GPU time (seed {seeds}){grey}"
    )


def _layout(
    arms: list[ArmRead],
    end_s: float,
    unit: tuple[float, str],
    window_s: tuple[float, float] | None,
) -> dict[str, Any]:
    panels = Panels(len(arms), PANEL, GAP, end_s, unit)
    axes: dict[str, Any] = {}
    shapes, names = [], []
    for panel, arm in enumerate(arms, start=1):
        gpus = {
            "range": [0, arm.num_gpus * 1.12],
            "tickvals": [0, arm.num_gpus / 2, arm.num_gpus],
        }
        axes |= panels.axes(panel, x={}, y=gpus)
        x, y = axis_name("x", panel), axis_name("y", panel)
        shapes.append(_all_gpus(x, y, arm.num_gpus))
        if window_s:
            shapes.append(grey_part(x, y, *(at_s * unit[0] for at_s in window_s)))
        names.append(panel_name(text(arm.name), panel))
    return layout(
        panels.height_px + REST,
        margin={"l": 58, "r": 18, "t": 24, "b": 46},
        annotations=names,
        shapes=shapes,
        **axes,
    )


def _all_gpus(x: str, y: str, num_gpus: int) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": f"{x} domain",
        "yref": y,
        "x0": 0,
        "x1": 1,
        "y0": num_gpus,
        "y1": num_gpus,
        "line": {"color": MUTED, "width": 1.2, "dash": "dot"},
    }
