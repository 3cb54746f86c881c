"""What an iteration spends its time on, at each measured number of CPUs. Pure."""

from __future__ import annotations

import pandas as pd

from harness.report.figures.figure import Figure, axis, colour, layout, numbers, pattern
from harness.report.words import number, percent, sentence, time_unit
from profiler.sensitivity.measured_point import MeasuredPoint

HEIGHT = 340
_STAGES = (
    ("waiting for its batch", "wait_s", 3),
    ("copying it to the device", "copy_s", 1),
    ("computing", "compute_s", 0),
)


def stages(points: list[MeasuredPoint]) -> Figure | None:
    """points: measured ones with all of the cache, by CPUs. None where there is none."""
    if not points:
        return None
    longest_s = max(point.wait_s + point.copy_s + point.compute_s for point in points)
    factor, unit = time_unit(longest_s)
    names = [number(point.allocation.cpus) for point in points]
    data = [
        {
            "type": "bar",
            "name": name,
            "x": names,
            "y": numbers([getattr(point, field) * factor for point in points]),
            "marker": {"color": colour(index), "pattern": {"shape": pattern(0)}},
            "hovertemplate": f"%{{y:.4g}} {unit} {name}, with %{{x}} CPUs<extra></extra>",
        }
        for name, field, index in _STAGES
    ]
    return Figure(
        name="stages",
        title="What an iteration spends its time on",
        caption=_caption(points),
        plot={
            "data": data,
            "layout": layout(
                HEIGHT,
                barmode="stack",
                xaxis=axis("CPUs", type="category"),
                yaxis=axis(f"mean iteration ({unit})", rangemode="tozero"),
            ),
        },
        table=pd.DataFrame(
            {
                "cpus": [point.allocation.cpus for point in points],
                **{field: [getattr(point, field) for point in points] for _, field, _ in _STAGES},
            }
        ),
    )


def _caption(points: list[MeasuredPoint]) -> str:
    few, many = points[0], points[-1]
    shares = [
        point.wait_s / max(point.wait_s + point.copy_s + point.compute_s, 1e-12)
        for point in (few, many)
    ]
    return sentence(
        f"with {number(few.allocation.cpus)} CPUs {percent(shares[0])} of the time is waiting, "
        f"with {number(many.allocation.cpus)} {percent(shares[1])}"
    )
