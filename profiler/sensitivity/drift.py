"""Whether the machine was the same at the end of a profiling as at its beginning. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from profiler.sensitivity.measured_point import MeasuredPoint

ALLOWED = 0.03
"""A change of all times by more makes a curve that was measured meanwhile another one: that is how
near the paper's optimistic profiles are to measured ones (Synergy, OSDI'22)."""

Verdict = Literal["steady", "drifted", "unclear"]


@dataclass(frozen=True)
class Drift:
    """ratio: the time of an iteration at the end over that at the beginning. interval: of 95 %.

    verdict: steady where the interval lies within ALLOWED of 1, drifted where it lies outside, and
    unclear where it is too wide to tell.
    """

    ratio: float
    interval: tuple[float, float]
    verdict: Verdict


def drift_between(first: MeasuredPoint, again: MeasuredPoint) -> Drift:
    """From the first point and its repetition; ValueError where they are not of one allocation.

    Both intervals are of independent measurements, so that on logarithms the squares of their
    halves add up.
    """
    if first.allocation != again.allocation or not (first.is_measured and again.is_measured):
        raise ValueError("drift is seen between two measurements of one allocation")
    ratio = math.log(again.iteration_s / first.iteration_s)
    (first_low, first_high), (low, high) = _halves(first), _halves(again)
    interval = (
        math.exp(ratio - math.hypot(low, first_high)),
        math.exp(ratio + math.hypot(high, first_low)),
    )
    return Drift(math.exp(ratio), interval, _verdict(interval))


def _halves(point: MeasuredPoint) -> tuple[float, float]:
    """How far the interval reaches below and above the time, on logarithms."""
    low, high = point.interval_s
    return math.log(point.iteration_s / low), math.log(high / point.iteration_s)


def _verdict(interval: tuple[float, float]) -> Verdict:
    low, high = interval
    least, most = 1 - ALLOWED, 1 + ALLOWED
    if least <= low and high <= most:
        return "steady"
    if high < least or low > most:
        return "drifted"
    return "unclear"
