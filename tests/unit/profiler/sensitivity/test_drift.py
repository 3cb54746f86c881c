"""Drift is seen where both measurements are good enough to show it."""

from __future__ import annotations

import pytest

from profiler.allocation import Allocation
from profiler.sensitivity.drift import drift_between
from profiler.sensitivity.measured_point import MeasuredPoint


def point(iteration_s: float, half: float, cpus: float = 2.0) -> MeasuredPoint:
    interval = (iteration_s * (1 - half), iteration_s * (1 + half))
    return MeasuredPoint(Allocation(cpus, 0), iteration_s=iteration_s, interval_s=interval)


def test_the_verdicts() -> None:
    assert drift_between(point(1.0, 0.01), point(1.01, 0.01)).verdict == "steady"
    assert drift_between(point(1.0, 0.01), point(1.1, 0.01)).verdict == "drifted"
    assert drift_between(point(1.0, 0.01), point(0.9, 0.01)).verdict == "drifted"
    assert drift_between(point(1.0, 0.01), point(1.03, 0.01)).verdict == "unclear"
    assert drift_between(point(1.0, 0.2), point(1.0, 0.2)).verdict == "unclear"


def test_the_squares_of_both_halves_add_up() -> None:
    drift = drift_between(point(1.0, 0.003), point(1.05, 0.004))
    assert drift.ratio == pytest.approx(1.05)
    low, high = drift.interval
    assert (1 - low / drift.ratio, high / drift.ratio - 1) == pytest.approx(
        (0.005, 0.005), rel=0.01
    )


def test_only_measurements_of_one_allocation_are_compared() -> None:
    with pytest.raises(ValueError, match="one allocation"):
        drift_between(point(1.0, 0.01), point(1.0, 0.01, cpus=1.0))
    failed = MeasuredPoint(Allocation(2.0, 0), state="failed", reason="it ended")
    with pytest.raises(ValueError, match="one allocation"):
        drift_between(point(1.0, 0.01), failed)
