"""How many jobs come at each hour of the day, and on each day of the week. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from harness.report.figures.figure import Figure, axis, layout, text
from harness.report.rounds.figures.looks import line_of, marker_of
from harness.report.traces.data import ShownTrace
from harness.report.words import listed, number, sentence
from traces.arrivals import ArrivalPattern

HEIGHT = 320


@dataclass(frozen=True)
class _Period:
    """name: of the figure. what: is on its axis, with a preposition that comes before it in
    sentences. shown: those of the ``names`` at which the axis has a tick, and how it is called."""

    name: str
    title: str
    what: str
    preposition: str
    names: list[str]
    shown: dict[str, str]


_HOURS = [f"{hour:02}:00" for hour in range(24)]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_HOUR = _Period(
    "by-hour",
    "Submissions by hour of the day",
    "hour",
    "at",
    _HOURS,
    {name: name for name in _HOURS[::6]},
)
_DAY = _Period(
    "by-day",
    "Submissions by day of the week",
    "day",
    "on",
    _DAYS,
    {name: name[:3] for name in _DAYS},
)

_Rates = tuple[float | None, ...]
_Known = list[tuple[int, ShownTrace, ArrivalPattern, _Rates]]


def by_hour(traces: Sequence[ShownTrace]) -> Figure | None:
    """None where no trace says at what hours its jobs came."""
    known = [(i, each, each.description.pattern) for i, each in enumerate(traces)]
    found: _Known = [(i, each, p, p.by_hour) for i, each, p in known if p is not None]
    return _figure(found, len(traces), _HOUR)


def by_weekday(traces: Sequence[ShownTrace]) -> Figure | None:
    """None where no trace says on what days its jobs came."""
    known = [(i, each, each.description.pattern) for i, each in enumerate(traces)]
    found: _Known = [(i, each, p, p.by_weekday) for i, each, p in known if p is not None]
    return _figure(found, len(traces), _DAY)


def _figure(found: _Known, count: int, period: _Period) -> Figure | None:
    if not found:
        return None
    tables = [
        pd.DataFrame({"trace": each.label, period.what: period.names, "jobs_per_hour": rates})
        for _, each, _, rates in found
    ]
    return Figure(
        name=period.name,
        title=period.title,
        caption=_caption(found, count, period),
        plot={
            "data": [
                _line(index, count, each, rates, period.names) for index, each, _, rates in found
            ],
            "layout": layout(
                HEIGHT,
                showlegend=count > 1,
                xaxis=axis(
                    "",
                    type="category",
                    categoryarray=period.names,
                    tickvals=list(period.shown),
                    ticktext=list(period.shown.values()),
                ),
                yaxis=axis("rate over its mean (%)", rangemode="tozero"),
            ),
        },
        table=pd.concat(tables, ignore_index=True),
        note=_zones(found, count),
    )


def _line(
    index: int, count: int, shown: ShownTrace, rates: _Rates, names: list[str]
) -> dict[str, Any]:
    mean = shown.description.jobs_per_hour or 1.0
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": text(shown.label),
        "x": names,
        "y": [None if rate is None else float(f"{rate / mean * 100:.5g}") for rate in rates],
        "customdata": [None if rate is None else float(f"{rate:.4g}") for rate in rates],
        "line": line_of(index, count) | {"width": 2},
        "marker": marker_of(index) | {"size": 7},
        "hovertemplate": "%{customdata} jobs an hour (%{y:.3g} % of the mean)",
    }


def _caption(found: _Known, count: int, period: _Period) -> str:
    words = []
    for _, each, _, rates in found:
        known = {
            name: rate for name, rate in zip(period.names, rates, strict=True) if rate is not None
        }
        most, least = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
        of = f" in {each.label}" if count > 1 else ""
        words.append(
            f"most jobs come {period.preposition} {most}{of} ({number(known[most])} an hour) and "
            f"fewest {period.preposition} {least} ({number(known[least])})"
        )
    return sentence(listed(words))


def _zones(found: _Known, count: int) -> str:
    zones = [
        ("UTC" if pattern.has_zone else "of a time zone that the trace does not name")
        + (f" ({each.label})" if count > 1 else "")
        for _, each, pattern, _ in found
    ]
    return f"Hours and days are {listed(list(dict.fromkeys(zones)))}."
