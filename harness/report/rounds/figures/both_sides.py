"""Completion times of every arm as emulated, and the simulated ones over them. Pure."""

from __future__ import annotations

from typing import Any

import pandas as pd

from harness.report.figures.cumulative import cumulative, share_axis
from harness.report.figures.figure import Figure, colour, layout
from harness.report.rounds.data import RunData
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.rounds.sides import EMULATED, SIMULATED
from harness.report.thinning import note
from harness.report.words import NOTHING, SPACE, long_time_unit, sentence, significant

HEIGHT = 400

# A line on top of another is seen where the one below is wide and pale.
_LOOKS: dict[str, tuple[dict[str, Any], float]] = {
    EMULATED: ({"width": 6}, 0.4),
    SIMULATED: ({"width": 1.8, "dash": "6px,4px"}, 1.0),
}
"""By side, how its lines look, and how opaque they are."""


def both_sides(run: RunData) -> Figure | None:
    """The jobs of all seeds that count; None where none has ended on one of the sides."""
    if run.emulated is None or SIMULATED not in run.sides.places:
        return None
    times = run.emulated.times
    if not set(_LOOKS) <= set(times["side"]):
        return None
    ends_s = float(times["jct_s"].min()), float(times["jct_s"].max())
    unit = long_time_unit(ends_s[1])
    data, tables, samples = [], [], 1.0
    for index, arm in enumerate(run.summary.arms):
        for side, (line, opacity) in _LOOKS.items():
            own = times.loc[(times["arm"] == arm.name) & (times["side"] == side), "jct_s"]
            if own.empty:
                continue
            trace, table, per_point = cumulative(
                own.to_numpy(dtype=float),
                unit,
                f"{arm.name}, {side}",
                "jobs",
                "jct_s",
                line | {"color": colour(index)},
            )
            data.append(trace | {"opacity": opacity})
            tables.append(table.assign(arm=arm.name, side=side))
            samples = max(samples, per_point)
    return Figure(
        name="both-sides",
        title="Completion times, emulated and simulated",
        caption=_caption(times, unit),
        plot={
            "data": data,
            "layout": layout(
                HEIGHT,
                xaxis=log_time_axis("completion time (log)", ends_s, unit),
                yaxis=share_axis("jobs"),
            ),
        },
        table=pd.concat(tables, ignore_index=True),
        note=note(samples, "jobs"),
    )


def _caption(times: pd.DataFrame, unit: tuple[float, str]) -> str:
    """After how long half of the jobs are complete, arm by arm."""
    factor, unit_name = unit
    medians_s = times.groupby(["arm", "side"], sort=False)["jct_s"].median()

    def said(arm: str, side: str) -> str:
        at_s = medians_s.get((arm, side))
        return NOTHING if at_s is None else f"{significant(at_s * factor, 3)}{SPACE}{unit_name}"

    found = [
        f"{said(arm, EMULATED)} emulated and {said(arm, SIMULATED)} simulated with {arm}"
        for arm in times["arm"].unique()
    ]
    return sentence(
        "where the dashed line of an arm, simulated, lies on its wide one, emulated, both agree on "
        f"how long jobs take: half of them are complete after {'; '.join(found)}"
    )
