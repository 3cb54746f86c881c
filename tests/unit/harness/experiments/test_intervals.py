"""Means, ratios and their 95 % intervals, by hand and against what 95 % means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.experiments.intervals import Interval, mean_over_seeds, ratio_over_seeds

# Student's t for 95 %, two-sided, with 1, 2 and 9 degrees of freedom, from printed tables.
T1, T2, T9 = 12.7062, 4.3027, 2.2622


def test_the_mean_of_three_seeds() -> None:
    found = mean_over_seeds([1, 2, 6])
    half = T2 * math.sqrt(7) / math.sqrt(3)  # the variance is (4 + 1 + 9) / 2
    assert (found.value, found.seeds) == (3.0, 3)
    assert found.low == pytest.approx(3 - half, rel=1e-4)
    assert found.high == pytest.approx(3 + half, rel=1e-4)


def test_the_mean_of_ten_seeds() -> None:
    found = mean_over_seeds([4.0] * 5 + [6.0] * 5)
    half = T9 * math.sqrt(10 / 9) / math.sqrt(10)
    assert found.value == 5.0
    assert found.low == pytest.approx(5 - half, rel=1e-4)
    assert found.high == pytest.approx(5 + half, rel=1e-4)


def test_one_seed_has_no_interval() -> None:
    assert mean_over_seeds([7.5]) == Interval(7.5, None, None, 1)
    assert ratio_over_seeds([6.0], [6.0]) == Interval(1.0, None, None, 1)


def test_seeds_that_agree_leave_no_doubt() -> None:
    assert mean_over_seeds([3.0, 3.0]) == Interval(3.0, 3.0, 3.0, 2)
    assert ratio_over_seeds([3.0, 8.0], [3.0, 8.0]) == Interval(1.0, 1.0, 1.0, 2)


def test_the_ratio_of_two_seeds() -> None:
    """Ratios 8 and 2: the logarithms are ln 4 plus and minus ln 2."""
    found = ratio_over_seeds([16.0, 2.0], [2.0, 1.0])
    factor = math.exp(T1 * math.log(2))
    assert found.value == pytest.approx(4.0)
    assert found.low == pytest.approx(4 / factor, rel=1e-4)
    assert found.high == pytest.approx(4 * factor, rel=1e-4)
    assert found.seeds == 2


def test_the_other_way_round_is_the_inverse() -> None:
    one, other = ratio_over_seeds([5, 7, 9], [2, 4, 3]), ratio_over_seeds([2, 4, 3], [5, 7, 9])
    assert one.low is not None
    assert one.high is not None
    assert other.value == pytest.approx(1 / one.value)
    assert other.low == pytest.approx(1 / one.high)
    assert other.high == pytest.approx(1 / one.low)


def test_ratios_are_of_pairs() -> None:
    """A seed that makes both arms slow says nothing about the ratio; shuffled, it would."""
    paired = ratio_over_seeds([10.0, 100.0, 1000.0], [5.0, 50.0, 500.0])
    assert paired.low == pytest.approx(2.0)
    assert paired.high == pytest.approx(2.0)
    shuffled = ratio_over_seeds([10.0, 100.0, 1000.0], [500.0, 50.0, 5.0])
    assert shuffled.value == pytest.approx(2.0)
    assert shuffled.low is not None
    assert shuffled.low < 0.1


@pytest.mark.parametrize("seeds", [2, 4, 10])
def test_95_of_100_intervals_hold_the_true_mean(seeds: int) -> None:
    """Of 1,000 seeded experiments; beyond four standard errors once in 16,000 such tests."""
    random = np.random.default_rng(11)
    inside = 0
    for _ in range(1000):
        found = mean_over_seeds(random.normal(40, 8, seeds).tolist())
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 40 <= found.high
    assert abs(inside / 1000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 1000)
