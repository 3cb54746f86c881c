"""The warm-up is found in the times, whatever single stalls and bursts are in them.

Random times are drawn from fixed seeds, and the statements hold for all of them.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from profiler.sensitivity.steadiness import LEAST_BLOCKS, steady_from

Floats = NDArray[np.float64]


def noisy(mean_s: Floats, seed: int, deviation: float = 0.02) -> Floats:
    random = np.random.default_rng(seed)
    return mean_s * np.exp(deviation * random.standard_normal(len(mean_s)))


def bursts(iterations: int, workers: int) -> Floats:
    """Of each burst the first batch is waited for; the others lie ready."""
    return np.where(
        np.arange(iterations) % workers == 0, 0.1 * workers - 0.01 * (workers - 1), 0.01
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_warm_up_is_cut_off_and_little_more(seed: int) -> None:
    mean_s = np.full(300, 0.1)
    mean_s[:40] = 0.2
    found = steady_from(noisy(mean_s, seed))
    assert found is not None
    assert 40 <= found <= 60


def test_one_that_decays_is_cut_where_it_no_longer_shows() -> None:
    iteration = np.arange(600)
    found = steady_from(noisy(0.1 * (1 + np.exp(-iteration / 30)), seed=1))
    assert found is not None
    # There 0.1 and 1 % of it are what is left.
    assert 60 <= found <= 180


@pytest.mark.parametrize("seed", range(20))
def test_steady_times_are_steady_from_the_first_one(seed: int) -> None:
    assert steady_from(noisy(np.full(200, 0.1), seed, deviation=0.05)) == 0


@pytest.mark.parametrize("place", [3, 60, 150])
def test_a_single_stall_is_no_warm_up(place: int) -> None:
    times = noisy(np.full(200, 0.1), seed=2)
    times[place] = 5.0
    assert steady_from(times) == (4 if place == 3 else 0)


def test_a_slow_first_iteration_alone_is_one() -> None:
    times = noisy(np.full(40, 0.1), seed=3)
    times[0] = 2.0
    assert steady_from(times) == 1


@pytest.mark.parametrize("workers", [2, 4, 7])
def test_bursts_are_steady(workers: int) -> None:
    assert steady_from(noisy(bursts(40 * workers, workers), seed=4), workers) == 0


def test_a_full_queue_at_the_beginning_is_a_warm_up() -> None:
    workers = 4
    times = bursts(200, workers)
    times[: 4 * workers] = 0.01
    assert steady_from(noisy(times, seed=5), workers) == 4 * workers


def test_times_that_still_change_are_not_steady() -> None:
    assert steady_from(noisy(np.linspace(0.2, 0.1, 300), seed=6)) is None
    step = np.where(np.arange(300) < 220, 0.2, 0.1)
    assert steady_from(noisy(step, seed=7)) is None


@given(st.integers(0, LEAST_BLOCKS * 3 - 1))
def test_few_times_say_nothing(count: int) -> None:
    assert steady_from(np.full(count, 0.1), period=3) is None


@given(st.lists(st.floats(1e-4, 1e2), min_size=LEAST_BLOCKS, max_size=400), st.integers(1, 8))
def test_at_least_half_of_the_times_is_left(times: list[float], period: int) -> None:
    found = steady_from(np.array(times), period)
    assert found is None or (0 <= found <= len(times) / 2 and found % period == 0)


def test_a_pattern_has_at_least_one_iteration() -> None:
    with pytest.raises(ValueError, match="at least one"):
        steady_from(np.ones(20), 0)
