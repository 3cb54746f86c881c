"""Both sides' times as cumulative distributions, one over the other. Pure."""

from __future__ import annotations

import pandas as pd

from harness.fidelity.analysis import ArmFidelity
from harness.fidelity.conclusion import MEASURES, THINGS
from harness.fidelity.pairs import SIDES
from harness.report.figures.cumulative import cumulative, share_axis
from harness.report.figures.figure import Figure, axis, colour, layout
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.thinning import note
from harness.report.words import long_time_unit, number, percent, sentence, time_unit

HEIGHT = 320

_MOST_TICKS = 5
"""The figure is half as wide as the page."""

_LINES = (
    {"color": colour(0), "dash": "solid", "width": 4.2},
    {"color": colour(1), "dash": "7px,4px", "width": 2.2},
)


def distributions(arm: ArmFidelity) -> Figure:
    """Of one arm."""
    measure = arm.measure
    many = THINGS[measure][1]
    times_s = {side: arm.pairs.column(measure, side) for side in SIDES}
    least_s = min(float(values.min()) for values in times_s.values())
    most_s = max(float(values.max()) for values in times_s.values())
    unit = long_time_unit(most_s) if measure == "jct_s" else time_unit(most_s)
    data, tables, samples = [], [], 1.0
    for (side, values), line in zip(times_s.items(), _LINES, strict=True):
        trace, table, per_point = cumulative(values, unit, side, many, "time_s", line)
        data.append(trace)
        tables.append(table.assign(side=side))
        samples = max(samples, per_point)
    x_axis = (
        log_time_axis("time (log)", (least_s, most_s), unit, _MOST_TICKS)
        if measure == "jct_s"
        else axis("time", ticksuffix=f" {unit[1]}")
    )
    return Figure(
        name=f"distribution-{measure.removesuffix('_s')}_{arm.arm}",
        title=f"{MEASURES[measure].capitalize()}, {arm.arm}",
        caption=_caption(arm, many),
        plot={
            "data": data,
            "layout": layout(HEIGHT, xaxis=x_axis, yaxis=share_axis(many)),
        },
        table=pd.concat(tables, ignore_index=True),
        note=note(samples, many),
    )


def _caption(arm: ArmFidelity, many: str) -> str:
    apart = arm.distances
    return sentence(
        f"where the dashed line hides the broad one both sides have as many {many} of that length; "
        f"they are {number(100 * apart.ks)} percentage points apart at the most, and times of the "
        f"same rank differ by {percent(apart.wasserstein_share)} of the mean"
    )
