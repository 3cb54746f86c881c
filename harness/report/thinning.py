"""Keeps figures light: long series become means, long distributions become quantiles. Pure."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from harness.report.words import counted, number

Floats = NDArray[np.float64]

MAX_POINTS = 1500
"""Points of one trace: about one a pixel on a wide screen."""


def lengths(t_s: Floats) -> Floats:
    """How long each sample is that ends at ``t_s``; the first is as long as the second."""
    return np.diff(t_s, prepend=2 * t_s[0] - t_s[1]) if t_s.size > 1 else np.ones(t_s.size)


def mean_of_runs(t_s: Floats, values: Floats) -> tuple[Floats, Floats, int]:
    """A series in which every point is the mean of as many samples as needed.

    t_s: shape (samples,), the end of each sample; values: shape (series, samples), its mean rates.
    A sample weighs as much as it is long, so that no byte is lost. Returns (t_s, values, samples a
    point).
    """
    count = t_s.size
    step = max(math.ceil(count / MAX_POINTS), 1)
    if step == 1:
        return t_s, values, 1
    lengths_s = lengths(t_s)
    starts = np.arange(0, count, step)
    means = np.add.reduceat(values * lengths_s, starts, axis=1) / np.add.reduceat(lengths_s, starts)
    return t_s[np.minimum(starts + step, count) - 1], means, step


def distribution(values: Floats) -> tuple[Floats, Floats, float]:
    """The cumulative distribution: (sorted values, share at or below each, samples a point)."""
    ordered = np.sort(values)
    ranks = np.arange(ordered.size)
    if ordered.size > MAX_POINTS:
        ranks = np.unique(np.linspace(0, ordered.size - 1, MAX_POINTS).astype(int))
    return ordered[ranks], (ranks + 1) / ordered.size, ordered.size / ranks.size


def note(samples: float, kind: str) -> str:
    """What the caption must say where points stand for several samples; empty where they do not."""
    return f"Each point stands for {math.ceil(samples)} {kind}." if samples > 1 else ""


def evenly(values: Floats, at_most: int) -> NDArray[np.intp]:
    """Positions of ``at_most`` of the values, evenly by their ranks: the least and the largest are
    among them, which matters where few stand out from many."""
    order: NDArray[np.intp] = np.argsort(values, kind="stable")
    if values.size > at_most:
        order = order[np.linspace(0, values.size - 1, at_most).astype(int)]
    return order


def evenly_note(drawn: int, of: int, kind: str, by: str) -> str:
    """What the caption must say where only some are drawn; empty where all are."""
    if drawn == of:
        return ""
    return (
        f"{number(drawn)} of {counted(of, kind, f'{kind}s')} are drawn, evenly by {by}, with the "
        "least and the largest."
    )
