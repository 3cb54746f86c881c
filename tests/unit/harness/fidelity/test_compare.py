"""Iteration times of an arm, and their differences."""

from __future__ import annotations

import pytest

from harness.fidelity.compare import Comparison, IterationTimes


def times(lengths_s: list[float]) -> IterationTimes:
    found = IterationTimes.of(lengths_s)
    assert found is not None
    return found


def test_the_statistics_are_mean_median_and_99th_percentile() -> None:
    found = times([0.1] * 98 + [0.2, 0.3])
    assert found.mean == pytest.approx(0.103)
    assert found.p50 == 0.1
    assert found.p99 == pytest.approx(0.201)  # linear between the 99th and the 100th value
    assert IterationTimes.of([]) is None


def test_a_difference_is_the_prediction_relative_to_the_reference() -> None:
    comparison = Comparison("a", times([0.2, 0.2]), times([0.25, 0.25]))
    assert comparison.difference == pytest.approx({"mean": 0.25, "p50": 0.25, "p99": 0.25})
