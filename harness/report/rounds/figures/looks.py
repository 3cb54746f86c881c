"""How arms look in the figures of a run of rounds: the same in all of them. Pure."""

from __future__ import annotations

from typing import Any

from harness.report.figures.figure import colour

_DASHES = ("solid", "9px,5px", "solid", "3px,3px")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "hexagon", "bowtie")
_WIDEST, _THINNEST = 4.6, 2.0


def line_of(index: int, count: int) -> dict[str, Any]:
    """The line of arm ``index`` of ``count``. The first are the widest and every other one has
    gaps, so that arms with the same times are all seen."""
    step = (_WIDEST - _THINNEST) / max(count - 1, 1)
    return {
        "color": colour(index),
        "dash": _DASHES[index % len(_DASHES)],
        "width": round(_WIDEST - index * step, 2),
    }


def marker_of(index: int) -> dict[str, Any]:
    """The mark of arm ``index``, told apart by its shape too; every other one is hollow."""
    hollow = index % 2 == 1
    return {
        "color": colour(index),
        "symbol": _SYMBOLS[index % len(_SYMBOLS)] + ("-open" if hollow else ""),
        "size": 11 if hollow else 9,
        "line": {"width": 2 if hollow else 0},
    }


def point_of(index: int, size: float | list[float]) -> dict[str, Any]:
    """The mark of arm ``index`` where it is one of many that lie over each other."""
    hollow = index % 2 == 1
    return marker_of(index) | {
        "size": size,
        "opacity": 0.6,
        "line": {"width": 1.3 if hollow else 0},
    }
