"""Speed-ups of every two arms, predicted over those of the reference. Pure."""

from __future__ import annotations

from typing import Any

import pandas as pd

from harness.fidelity.decision import Decision, Speedup
from harness.fidelity.estimates import Estimate
from harness.report.fidelity.tables import verdict
from harness.report.figures.figure import MUTED, SHARED, Figure, axis, colour, layout, numbers, text
from harness.report.words import counted, number, sentence

HEIGHT = 460

_LOOKS = {
    "same": (colour(0), "circle"),
    "reversed": (colour(3), "x"),
    "reference is unclear": (SHARED, "diamond-open"),
}
_ROOM = 1.04


def speedups(decision: Decision) -> Figure:
    """A point for every two arms."""
    values = [
        end
        for each in decision.speedups
        for e in (each.reference, each.prediction)
        for end in _ends(e)
    ]
    ends = [min(*values, 1.0) / _ROOM, max(values) * _ROOM]
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "as predicted",
            "x": numbers(ends),
            "y": numbers(ends),
            "line": {"color": MUTED, "dash": "dash", "width": 1.3},
            "hoverinfo": "skip",
        }
    ]
    for name, (shade, symbol) in _LOOKS.items():
        own = [each for each in decision.speedups if verdict(each) == name]
        if own:
            data.append(_points(name, own, shade, symbol))
    return Figure(
        name=f"speed-ups-{decision.measure.removesuffix('_s')}",
        title="Speed-ups of every two arms",
        caption=_caption(decision),
        plot={
            "data": data,
            "layout": layout(
                HEIGHT,
                xaxis=axis("in the reference (x)", range=ends),
                yaxis=axis("predicted (x)", range=ends),
                shapes=[
                    {
                        "type": "rect",
                        "x0": ends[0],
                        "x1": ends[1],
                        "y0": ends[0],
                        "y1": 1,
                        "fillcolor": SHARED,
                        "opacity": 0.18,
                        "line": {"width": 0},
                        "layer": "below",
                    }
                ],
            ),
        },
        table=_table(decision),
    )


def _ends(estimate: Estimate) -> tuple[float, float]:
    return estimate.interval or (estimate.value, estimate.value)


def _points(name: str, own: list[Speedup], shade: str, symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"order: {name}",
        "x": numbers([each.reference.value for each in own]),
        "y": numbers([each.prediction.value for each in own]),
        "error_x": _bars([each.reference for each in own], shade),
        "error_y": _bars([each.prediction for each in own], shade),
        "marker": {"color": shade, "symbol": symbol, "size": 10},
        "text": [text(f"{each.faster} over {each.slower}") for each in own],
        "hovertemplate": "%{text}: %{x:.3g} in the reference, %{y:.3g} predicted",
    }


def _bars(estimates: list[Estimate], shade: str) -> dict[str, Any]:
    ends = [_ends(each) for each in estimates]
    return {
        "type": "data",
        "symmetric": False,
        "array": numbers([e[1] - each.value for e, each in zip(ends, estimates, strict=True)]),
        "arrayminus": numbers([each.value - e[0] for e, each in zip(ends, estimates, strict=True)]),
        "color": shade,
        "thickness": 1.1,
        "width": 0,
    }


def _table(decision: Decision) -> pd.DataFrame:
    rows = []
    for each in decision.speedups:
        row: dict[str, Any] = {"faster": each.faster, "slower": each.slower}
        for side, estimate in (("reference", each.reference), ("prediction", each.prediction)):
            low, high = estimate.interval or (None, None)
            row |= {side: estimate.value, f"{side}_low": low, f"{side}_high": high}
        rows.append(row | {"certainty": each.certainty, "order": verdict(each)})
    return pd.DataFrame(rows)


def _caption(decision: Decision) -> str:
    worst = max(decision.speedups, key=lambda each: abs(each.error.value - 1))
    wrong = len(decision.reversed)
    order = f"{counted(wrong, 'pair is', 'pairs are')}" if wrong else "no pair is"
    return sentence(
        f"points on the dashed line have the same speed-up on both sides, and those in the grey "
        f"field the other order: {order} so for certain, and {worst.faster} over {worst.slower} is "
        f"the farthest off ({number(worst.prediction.value)} predicted, "
        f"{number(worst.reference.value)} in the reference)"
    )
