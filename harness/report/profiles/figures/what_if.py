"""How fast training would be with more CPUs, or with more of the dataset cached. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import Figure, axis, colour, layout, numbers
from harness.report.words import number, percent, sentence
from profiler.sensitivity.stalls import Rates, enough

HEIGHT = 340
_POINTS = 101
_CPUS_TIMES = 4.0


def over_cache(rates: Rates) -> Figure:
    """Speed over the share of the dataset that is cached, with the limits."""
    shares = np.linspace(0, 1, _POINTS)
    each = [replace(rates, hit_share=float(share)) for share in shares]
    needed = enough(rates).hit_share
    words = (
        "no size of the cache makes fetching as fast as the other stages"
        if needed is None
        else f"from {percent(needed)} of the dataset cached on, fetching limits no more"
    )
    what = "of the dataset cached (%)"
    return _figure("cache", "Speed over the cache", what, shares * 100, each, words)


def over_cpus(rates: Rates) -> Figure:
    """Speed over CPUs, taking preparation to be in proportion to them."""
    counts = np.linspace(rates.cpus / _POINTS, rates.cpus * _CPUS_TIMES, _POINTS)
    each = [
        replace(rates, cpus=float(cpus), preparation=rates.preparation * float(cpus) / rates.cpus)
        for cpus in counts
    ]
    words = f"from {number(enough(rates).cpus)} CPUs on, preparation limits no more"
    return _figure("more-cpus", "Speed over CPUs", "CPUs", counts, each, words)


def _figure(
    name: str, title: str, what: str, at: np.ndarray, each: list[Rates], words: str
) -> Figure:
    limits = {
        "ingestion by the device": [rates.ingestion for rates in each],
        "preparation by CPUs": [rates.preparation for rates in each],
        "fetching": [rates.fetch for rates in each],
    }
    speeds = [rates.speed for rates in each]
    ceiling = 3 * max(speeds)
    lines = [
        _line(label, at, values, colour(index + 1), ceiling, "dot", 1.5)
        for index, (label, values) in enumerate(limits.items())
    ]
    return Figure(
        name=name,
        title=title,
        caption=sentence(words),
        plot={
            "data": [*lines, _line("training", at, speeds, colour(0), ceiling, "solid", 3)],
            "layout": layout(
                HEIGHT,
                xaxis=axis(what),
                yaxis=axis("samples/s", range=[0, 1.6 * max(speeds)]),
            ),
        },
        table=pd.DataFrame({what: at, "training": speeds, **limits}),
    )


def _line(
    name: str,
    at: np.ndarray,
    values: list[float],
    shade: str,
    ceiling: float,
    dash: str,
    width: float,
) -> dict[str, Any]:
    """Values above ``ceiling``, which may be infinite, are beyond what is drawn."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": numbers(at),
        "y": numbers(np.minimum(values, ceiling)),
        "line": {"color": shade, "width": width, "dash": dash},
        "hovertemplate": "%{y:.4g} samples/s",
    }
