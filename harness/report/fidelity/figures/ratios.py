"""Predicted over reference means, tails and makespans, with intervals and the margin. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from harness.fidelity.analysis import ArmFidelity
from harness.fidelity.conclusion import MEASURES
from harness.fidelity.estimates import Estimate
from harness.report.figures.figure import MUTED, SHARED, Figure, axis, colour, layout, numbers, text
from harness.report.words import listed, number, sentence

_ROW, _FRAME = 46, 130
_APART = 0.2
_SYMBOLS = ("circle", "square-open", "diamond")

_Row = tuple[int, Estimate]
"""Which arm, and a ratio of it."""


def ratios(arms: Sequence[ArmFidelity], margin: float) -> Figure:
    """arms: of one measure."""
    series: dict[str, list[_Row]] = {
        "mean": [(row, arm.estimates.mean) for row, arm in enumerate(arms)],
        "99th percentile": [(row, arm.estimates.tail) for row, arm in enumerate(arms)],
        "makespan": [
            (row, arm.makespan.ratio) for row, arm in enumerate(arms) if arm.makespan is not None
        ],
    }
    data = [
        _points(name, rows, index, arms)
        for index, (name, rows) in enumerate(series.items())
        if rows
    ]
    percents = 100 * margin
    return Figure(
        name=f"ratios-{arms[0].measure.removesuffix('_s')}",
        title=f"{MEASURES[arms[0].measure].capitalize()}: predicted over reference",
        caption=_caption(arms, margin),
        plot={
            "data": data,
            "layout": layout(
                _FRAME + _ROW * len(arms),
                xaxis=axis(
                    "predicted over reference, less 1 (%)", zeroline=True, zerolinecolor=MUTED
                ),
                yaxis=axis(
                    "",
                    tickvals=list(range(len(arms))),
                    ticktext=[text(arm.arm) for arm in arms],
                    range=[len(arms) - 0.5, -0.5],
                ),
                shapes=[
                    {
                        "type": "rect",
                        "xref": "x",
                        "yref": "paper",
                        "x0": -percents,
                        "x1": percents,
                        "y0": 0,
                        "y1": 1,
                        "fillcolor": SHARED,
                        "opacity": 0.18,
                        "line": {"width": 0},
                        "layer": "below",
                    }
                ],
            ),
        },
        table=_table(series, arms),
    )


def _points(
    name: str, rows: Sequence[_Row], index: int, arms: Sequence[ArmFidelity]
) -> dict[str, Any]:
    estimates = [estimate for _, estimate in rows]
    offs = [100 * (each.value - 1) for each in estimates]
    ends = [each.interval or (each.value, each.value) for each in estimates]
    shift = _APART * (index - 1)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": numbers(offs),
        "y": [row + shift for row, _ in rows],
        "marker": {
            "color": colour(index),
            "symbol": _SYMBOLS[index],
            "size": 9,
        },
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": numbers(
                [100 * (e[1] - each.value) for e, each in zip(ends, estimates, strict=True)]
            ),
            "arrayminus": numbers(
                [100 * (each.value - e[0]) for e, each in zip(ends, estimates, strict=True)]
            ),
            "color": colour(index),
            "thickness": 1.6,
        },
        "text": [text(arms[row].arm) for row, _ in rows],
        "hovertemplate": f"%{{text}}, {name}: %{{x:.3g}} %",
    }


def _table(series: dict[str, list[_Row]], arms: Sequence[ArmFidelity]) -> pd.DataFrame:
    rows = [
        {
            "arm": arms[row].arm,
            "statistic": name,
            "ratio": each.value,
            "low_95": None if each.interval is None else each.interval[0],
            "high_95": None if each.interval is None else each.interval[1],
            "low_90": None if each.narrow is None else each.narrow[0],
            "high_90": None if each.narrow is None else each.narrow[1],
        }
        for name, of_arms in series.items()
        for row, each in of_arms
    ]
    return pd.DataFrame(rows)


def _caption(arms: Sequence[ArmFidelity], margin: float) -> str:
    inside = [arm.arm for arm in arms if arm.statement == "equivalent"]
    found = listed(inside) if inside else "no arm"
    return sentence(
        f"an arm can be taken to be within {number(100 * margin)} % where the 90 % interval of its "
        f"mean, a little shorter than its bar of 95 %, lies in the grey band: {found}"
    )
