"""The time of an iteration is one over throughput, and its interval holds it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.sensitivity.precision import LEAST_BLOCKS, Estimate, Precision, estimate


def test_of_bursts_it_is_the_mean_and_not_a_short_iteration() -> None:
    times = np.tile([0.37, 0.01, 0.01, 0.01], 100)
    assert np.median(times) == 0.01
    assert estimate(times, period=4).iteration_s == pytest.approx(0.1)


def test_a_few_stalls_do_not_change_it() -> None:
    times = np.full(640, 0.1)
    times[[17, 300, 555]] = 3.0
    found = estimate(times)
    assert found.iteration_s == pytest.approx(0.1)
    assert found.interval_s == pytest.approx((0.1, 0.1))


def test_the_interval_holds_the_true_time_in_about_95_percent() -> None:
    """Were it in 93 to 95 % of 200 draws, fewer than 168, or all, would have odds below 1e-4."""
    held = 0
    for seed in range(200):
        times = np.random.default_rng(seed).gamma(25.0, 0.1 / 25.0, 640)
        low, high = estimate(times, seed=seed).interval_s
        held += low <= 0.1 <= high
    assert 168 <= held < 200


def test_more_iterations_make_it_narrower() -> None:
    times = np.random.default_rng(8).gamma(25.0, 0.004, 64_000)
    assert estimate(times).relative_width < estimate(times[:500]).relative_width / 3


def test_blocks_that_resemble_their_neighbours_are_joined() -> None:
    slow = np.repeat(np.random.default_rng(9).normal(0.1, 0.01, 20), 160)
    joined = estimate(slow)
    assert joined.block_iterations >= 100
    assert joined.blocks >= LEAST_BLOCKS


def test_the_same_seed_gives_the_same_interval() -> None:
    times = np.random.default_rng(10).gamma(25.0, 0.004, 300)
    assert estimate(times, seed=3) == estimate(times, seed=3)
    assert estimate(times, seed=3).interval_s != estimate(times, seed=4).interval_s


def test_too_few_blocks_have_their_extremes_and_no_width() -> None:
    found = estimate(np.array([0.1, 0.3, 0.2]))
    assert found == Estimate(0.2, (0.1, 0.3), 3, 1)
    assert math.isinf(found.relative_width)
    assert estimate(np.array([0.1, 0.3]), period=4).iteration_s == pytest.approx(0.2)
    with pytest.raises(ValueError, match="no iteration"):
        estimate(np.array([]))


@given(st.lists(st.floats(1e-4, 1e2), min_size=1, max_size=300), st.integers(1, 9))
def test_the_time_lies_in_its_interval(times: list[float], period: int) -> None:
    found = estimate(np.array(times), period)
    low, high = found.interval_s
    assert low <= found.iteration_s <= high
    assert min(times) * (1 - 1e-9) <= low
    assert high <= max(times) * (1 + 1e-9)


def test_a_point_is_done_when_it_is_precise_or_its_budget_is_spent() -> None:
    precision = Precision(budget_s=60.0)
    precise = Estimate(0.1, (0.0995, 0.1005), 20, 1)
    wide = Estimate(0.1, (0.09, 0.11), 20, 1)
    few = Estimate(0.1, (0.1, 0.1), LEAST_BLOCKS - 1, 1)
    assert precision.is_done(precise, 1.0)
    assert not precision.is_done(wide, 59.0)
    assert not precision.is_done(few, 59.0)
    assert precision.is_done(few, 60.0)
    assert not precision.is_precise(few)
