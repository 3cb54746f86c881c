"""Bland and Altman's figure: the ratio of both sides over their mean, pair by pair. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness.fidelity.analysis import ArmFidelity
from harness.fidelity.conclusion import THINGS
from harness.fidelity.pairs import SIDES
from harness.report.figures.figure import MUTED, Figure, axis, colour, layout, numbers, text
from harness.report.rounds.figures.looks import point_of
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.thinning import MAX_POINTS, evenly, evenly_note
from harness.report.words import long_time_unit, number, percent, sentence, time_unit

HEIGHT = 460

_SIZE = 6.5
_TICKS = (
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    0.8,
    0.9,
    1.0,
    1.1,
    1.25,
    2.0,
    5.0,
    10.0,
    20.0,
    50.0,
    100.0,
)
_LEAST_APART = 0.09  # of an axis, between ticks


def agreement(arms: Sequence[ArmFidelity]) -> Figure:
    """arms: of one measure."""
    measure = arms[0].measure
    one, many = THINGS[measure]
    tables = [_table(arm, MAX_POINTS // len(arms) or 1) for arm in arms]
    table = pd.concat(tables, ignore_index=True)
    ends_s = float(table["mean_s"].min()), float(table["mean_s"].max())
    unit = long_time_unit(ends_s[1]) if measure == "jct_s" else time_unit(ends_s[1])
    data: list[dict[str, Any]] = []
    for index, (arm, own) in enumerate(zip(arms, tables, strict=True)):
        data.append(_points(index, arm, own, unit))
        data += _limits(index, arm, ends_s, unit[0])
    ratios = table["ratio"].to_numpy(dtype=float)
    pairs = sum(arm.errors.pairs for arm in arms)
    return Figure(
        name=f"agreement-{measure.removesuffix('_s')}",
        title=f"Agreement, {one} by {one}",
        caption=_caption(arms, many),
        plot={
            "data": data,
            "layout": layout(
                HEIGHT,
                xaxis=log_time_axis("geometric mean of both sides (log)", ends_s, unit),
                yaxis=_ratio_axis(float(ratios.min()), float(ratios.max())),
                shapes=[_line_at_one()],
            ),
        },
        table=table,
        note=evenly_note(len(table), pairs, one, "ratio"),
    )


def _table(arm: ArmFidelity, at_most: int) -> pd.DataFrame:
    times_s = {side: arm.pairs.column(arm.measure, side) for side in SIDES}
    ratio = times_s["prediction"] / times_s["reference"]
    kept = evenly(ratio, at_most)
    own = arm.pairs.table.iloc[kept]
    return pd.DataFrame(
        {
            "arm": arm.arm,
            "seed": own["seed"].to_numpy(),
            "job": own["job"].to_numpy(),
            "reference_s": times_s["reference"][kept],
            "prediction_s": times_s["prediction"][kept],
            "mean_s": np.sqrt(times_s["reference"][kept] * times_s["prediction"][kept]),
            "ratio": ratio[kept],
        }
    )


def _points(
    index: int, arm: ArmFidelity, own: pd.DataFrame, unit: tuple[float, str]
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": text(arm.arm),
        "legendgroup": text(arm.arm),
        "x": numbers(own["mean_s"] * unit[0]),
        "y": numbers(own["ratio"]),
        "marker": point_of(index, _SIZE),
        "text": [text(f"{arm.arm}, job {job}") for job in own["job"]],
        "hovertemplate": f"%{{text}}: x %{{y:.3g}} at %{{x:.3g}} {unit[1]}",
    }


def _limits(
    index: int, arm: ArmFidelity, ends_s: tuple[float, float], factor: float
) -> list[dict[str, Any]]:
    if arm.errors.agreement is None:
        return []
    low, _, high = arm.errors.agreement
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": text(arm.arm),
            "legendgroup": text(arm.arm),
            "showlegend": False,
            "x": numbers([end_s * factor for end_s in ends_s]),
            "y": numbers([limit, limit]),
            "line": {"color": colour(index), "dash": "dash", "width": 1.3},
            "hovertemplate": f"limit of {text(arm.arm)}: x %{{y:.3g}}",
        }
        for limit in (low, high)
    ]


def _ratio_axis(least: float, most: float) -> dict[str, Any]:
    low, high = np.log10(min(least, 0.9)) - 0.02, np.log10(max(most, 1.1)) + 0.02
    shown: list[float] = []
    # From 1 outwards, so that 1 is there and its neighbours leave room.
    for tick in sorted(_TICKS, key=lambda ratio: abs(np.log10(ratio))):
        apart = [abs(np.log10(tick / other)) / (high - low) for other in shown]
        if low <= np.log10(tick) <= high and min(apart, default=1.0) >= _LEAST_APART:
            shown.append(tick)
    shown.sort()
    return axis(
        "predicted over reference (log)",
        type="log",
        range=[float(low), float(high)],
        tickvals=shown,
        ticktext=[f"x {number(tick)}" for tick in shown],
    )


def _line_at_one() -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": 1,
        "y1": 1,
        "line": {"color": MUTED, "width": 1.2},
        "layer": "below",
    }


def _caption(arms: Sequence[ArmFidelity], many: str) -> str:
    widest = max(arms, key=lambda arm: arm.errors.p95)
    return sentence(
        f"{many} on the line at 1 take as long on both sides, and dashed lines hold 95 of 100 if "
        f"errors are as usual; with {widest.arm} they spread most, 95 of 100 being off by at most "
        f"{percent(widest.errors.p95)}"
    )
