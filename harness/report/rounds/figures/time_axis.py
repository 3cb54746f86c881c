"""A logarithmic axis of times from seconds to years, in units that people use. Pure."""

from __future__ import annotations

import math
from typing import Any

from harness.report.figures.figure import axis

_S = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "weeks": 7 * 86400.0}
_TICKS = [
    (count * size_s, f"{count} {unit}")
    for unit, size_s in _S.items()
    for count in {
        "s": (1, 2, 5, 10, 20, 30),
        "min": (1, 2, 5, 10, 20, 30),
        "h": (1, 2, 4, 8, 16),
        "d": (1, 2, 4),
        "weeks": (1, 2, 4, 8, 16, 32, 64, 128),
    }[unit]
]

_MOST_TICKS = 7

_LEAST_RATIO = 1.5
"""Of an axis' ends, so that a single value has room on both sides."""


def log_time_axis(
    title: str,
    ends_s: tuple[float, float],
    unit: tuple[float, str],
    most_ticks: int = _MOST_TICKS,
) -> dict[str, Any]:
    """unit: the factor from seconds to the values on the axis, and its name. Ends are above 0."""
    low_s, high_s = ends_s
    factor, unit_name = unit
    ratio = high_s / low_s
    margin = ratio**0.04 if ratio >= _LEAST_RATIO else _LEAST_RATIO
    low_s, high_s = low_s / margin, high_s * margin
    inside = [tick for tick in _TICKS if low_s <= tick[0] <= high_s]
    shown = inside[:: math.ceil(len(inside) / most_ticks) or 1]
    ticks = (
        {
            "tickvals": [at_s * factor for at_s, _ in shown],
            "ticktext": [words for _, words in shown],
        }
        if len(shown) > 1
        else {"nticks": 5, "ticksuffix": f" {unit_name}"}
    )
    ends = [math.log10(end_s * factor) for end_s in (low_s, high_s)]
    return axis(title, type="log", range=ends, **ticks)
