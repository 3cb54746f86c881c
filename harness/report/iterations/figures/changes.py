"""What changes of links look like over time: a capacity in steps, and an event as a line. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.report.figures.figure import INK, MUTED, text
from harness.report.iterations.documents import EventRead
from harness.report.thinning import Floats
from harness.report.words import bit_rate, seconds

_CHANGE_SIZE = 11.5


def event_words(event: EventRead) -> str:
    """What an event does to its link, in a word or two."""
    if event.change == "rate" and event.value is not None:
        return bit_rate(event.value)
    if event.change == "latency" and event.value is not None:
        return f"+{seconds(event.value)}"
    return event.change


def event_lines(
    events: Sequence[EventRead], x: str, y: str, window: tuple[float, float]
) -> list[dict[str, Any]]:
    """A vertical line for each event in the window, over the whole height of the axis ``y``."""
    return [
        {
            "type": "line",
            "xref": x,
            "yref": f"{y} domain",
            "x0": event.at_s,
            "x1": event.at_s,
            "y0": 0,
            "y1": 1,
            "line": {"color": INK, "width": 1.4, "dash": "dash"},
        }
        for event in _within(events, window)
    ]


def event_labels(
    events: Sequence[EventRead], x: str, y: str, window: tuple[float, float], link: str
) -> list[dict[str, Any]]:
    """What stands beside each line, downwards; with the link, where that is not ``link``."""
    return [
        {
            "text": text(_label(event, link)),
            "xref": x,
            "x": event.at_s,
            "yref": f"{y} domain",
            "y": 1,
            "xanchor": "left",
            "yanchor": "top",
            "textangle": 90,
            "showarrow": False,
            "font": {"size": _CHANGE_SIZE, "color": INK},
        }
        for event in _within(events, window)
    ]


def capacity_lines(
    t_s: Floats, capacity_bps: Floats, x: str, y: str, window: tuple[float, float]
) -> list[dict[str, Any]]:
    """The capacity over the window: one line, or one for each time between two changes."""
    inside = (t_s >= window[0]) & (t_s <= window[1])
    times, values = t_s[inside], capacity_bps[inside]
    if values.size == 0:
        return []
    steps = [0, *(np.flatnonzero(np.diff(values)) + 1), values.size]
    edges_s = [window[0], *(float(times[step]) for step in steps[1:-1]), window[1]]
    return [
        {
            "type": "line",
            "xref": x,
            "yref": y,
            "x0": start_s,
            "x1": end_s,
            "y0": float(values[step]) / 1e9,
            "y1": float(values[step]) / 1e9,
            "line": {"color": MUTED, "width": 1.2, "dash": "dot"},
        }
        for step, (start_s, end_s) in zip(steps[:-1], itertools.pairwise(edges_s), strict=True)
    ]


def _within(events: Sequence[EventRead], window: tuple[float, float]) -> list[EventRead]:
    return [event for event in events if window[0] <= event.at_s <= window[1]]


def _label(event: EventRead, link: str) -> str:
    words = event_words(event)
    return words if event.is_at(link) else f"{event.link_name} {words}"
