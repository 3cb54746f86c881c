"""A cumulative distribution of times as a line. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import axis, numbers, text
from harness.report.thinning import Floats, distribution


def cumulative(
    times_s: Floats,
    unit: tuple[float, str],
    label: str,
    what: str,
    column: str,
    line: dict[str, Any],
) -> tuple[dict[str, Any], pd.DataFrame, float]:
    """(trace, its data, samples a point) of ``times_s``.

    unit: the factor from seconds to what is drawn, and its name. what: things that take these
    times, such as ``jobs``. column: the name of the times in the data.
    """
    at_s, share, samples = distribution(times_s)
    factor, unit_name = unit
    trace = {
        "type": "scatter",
        "mode": "lines",
        "name": text(label),
        "x": numbers(np.concatenate((at_s[:1], at_s)) * factor),
        "y": numbers(np.concatenate(([0.0], share)) * 100),
        "line": line | {"shape": "hv"},
        "hovertemplate": f"%{{y:.0f}} % of {what} take at most %{{x:.5g}} {unit_name}",
    }
    return trace, pd.DataFrame({column: at_s, "share_at_or_below": share}), samples


def share_axis(what: str) -> dict[str, Any]:
    """The axis of the share of ``what``, in percent."""
    return axis(f"{what} (%)", range=[-2, 103], tickvals=[0, 25, 50, 75, 100])
