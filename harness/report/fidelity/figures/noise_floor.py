"""How far repeats of the reference are from each other, beside the prediction's error. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from harness.fidelity.analysis import ArmFidelity
from harness.fidelity.conclusion import MEASURES
from harness.report.figures.figure import Figure, axis, colour, layout, numbers, text
from harness.report.words import listed, sentence

_ROW, _FRAME = 40, 130


def noise_floor(arms: Sequence[ArmFidelity]) -> Figure | None:
    """arms: of one measure. None where no arm of the reference has repeats."""
    known = [(arm, arm.noise) for arm in arms if arm.noise is not None]
    if not known:
        return None
    rows = [
        {"arm": arm.arm, "what": "two repeats", "mean_off": off}
        for arm, noise in known
        for off in noise.means_off
    ]
    rows += [
        {"arm": arm.arm, "what": "prediction", "mean_off": abs(arm.estimates.mean.value - 1)}
        for arm, _ in known
    ]
    table = pd.DataFrame(rows)
    names = [text(arm.arm) for arm, _ in known]
    inside = [arm.arm for arm, noise in known if abs(arm.estimates.mean.value - 1) <= noise.largest]
    return Figure(
        name=f"noise-{arms[0].measure.removesuffix('_s')}",
        title=f"Mean {MEASURES[arms[0].measure]}: the reference against itself",
        caption=sentence(
            "each small mark is how far two repeats of the reference are apart, and no prediction "
            f"can be asked for less: that of {listed(inside) if inside else 'no arm'} is among them"
        ),
        plot={
            "data": [
                _marks(table, "two repeats", colour(0), "line-ns-open", 14),
                _marks(table, "prediction", colour(3), "diamond", 11),
            ],
            "layout": layout(
                _FRAME + _ROW * len(known),
                xaxis=axis("off by (%)", rangemode="tozero"),
                yaxis=axis("", type="category", categoryarray=names[::-1]),
            ),
        },
        table=table,
    )


def _marks(table: pd.DataFrame, what: str, shade: str, symbol: str, size: int) -> dict[str, Any]:
    own = table[table["what"] == what]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": what,
        "x": numbers(100 * own["mean_off"]),
        "y": [text(str(arm)) for arm in own["arm"]],
        "marker": {"color": shade, "symbol": symbol, "size": size, "line": {"width": 2}},
        "hovertemplate": f"%{{y}}, {what}: %{{x:.3g}} %",
    }
