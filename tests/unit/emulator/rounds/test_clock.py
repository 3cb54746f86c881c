"""Time of the cluster passes in rounds only."""

from __future__ import annotations

import numpy as np

from emulator.rounds.clock import RoundClock


def two_rounds() -> RoundClock:
    """Rounds of 2 s on the wall that stand for 20 s; the second begins an hour later."""
    clock = RoundClock(stride=10.0)
    clock.add(100.0, 50.0, 2.0)
    clock.add(3700.0, 52.5, 2.0)
    return clock


def test_in_a_round_time_passes_as_fast_as_the_stride_says() -> None:
    assert two_rounds().cluster_s(np.array([50.0, 51.0, 53.5])).tolist() == [100.0, 110.0, 3710.0]
    assert two_rounds().passed_s(np.array([50.0, 51.0, 53.5])).tolist() == [0.0, 1.0, 3.0]


def test_between_two_rounds_it_stands_still() -> None:
    assert two_rounds().cluster_s(np.array([52.0, 52.3])).tolist() == [120.0, 120.0]
    assert two_rounds().passed_s(np.array([52.0, 52.3])).tolist() == [2.0, 2.0]


def test_before_the_first_round_and_after_the_last_it_is_theirs() -> None:
    assert two_rounds().cluster_s(np.array([10.0, 99.0])).tolist() == [100.0, 3720.0]
    assert two_rounds().passed_s(np.array([10.0, 99.0])).tolist() == [0.0, 4.0]


def test_without_a_round_nothing_has_passed() -> None:
    clock = RoundClock(stride=10.0)
    assert np.array_equal(clock.cluster_s(np.array([1.0, 2.0])), [0.0, 0.0])
    assert np.array_equal(clock.passed_s(np.array([1.0, 2.0])), [0.0, 0.0])
