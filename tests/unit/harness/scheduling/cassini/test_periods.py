"""One period a job: never shorter, lengthened by little, all meeting after one perimeter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.cassini.periods import IncomparableError, common_periods
from harness.scheduling.cassini.precision import Precision

TWO_PERCENT = Precision(max_rounding=0.02)
PRIMES_MS = (101, 103, 107, 109, 113, 127, 131, 137, 139, 149,
             151, 157, 163, 167, 173, 179, 181, 191, 193, 197)  # fmt: skip


def test_40_and_60_ms_meet_after_120_ms() -> None:
    periods = common_periods([0.04, 0.06], TWO_PERCENT)
    assert periods.perimeter_s == pytest.approx(0.12)
    assert periods.repeats == (3, 2)
    assert periods.periods_s == pytest.approx((0.04, 0.06))
    assert periods.rounding == pytest.approx(0, abs=1e-12)


def test_equal_times_are_not_lengthened() -> None:
    periods = common_periods([0.23009, 0.23009], TWO_PERCENT)
    assert (periods.perimeter_s, periods.repeats) == (0.23009, (1, 1))
    assert periods.rounding == 0.0


def test_times_that_are_equal_but_for_noise_are_not_lengthened() -> None:
    periods = common_periods([0.1 + 1e-14, 0.05], TWO_PERCENT)
    assert periods.perimeter_s == pytest.approx(0.1)
    assert periods.repeats == (1, 2)


def test_a_time_is_lengthened_by_little_so_that_all_meet_soon() -> None:
    periods = common_periods([0.255, 0.260], TWO_PERCENT)
    assert periods.periods_s == (0.26, 0.26)
    assert periods.rounding == pytest.approx(0.26 / 0.255 - 1)


def test_without_rounding_they_meet_at_their_least_common_multiple() -> None:
    periods = common_periods([0.255, 0.260], Precision(max_rounding=0.0))
    assert periods.perimeter_s == pytest.approx(13.26)
    assert periods.repeats == (52, 51)


def test_twenty_periods_whose_multiple_would_be_an_age_meet_within_the_limit() -> None:
    assert math.lcm(*PRIMES_MS) / 1e3 > 1e30
    periods = common_periods([each / 1e3 for each in PRIMES_MS], TWO_PERCENT)
    assert periods.perimeter_s <= TWO_PERCENT.max_perimeter_s
    assert 0 < periods.rounding <= 0.02


@given(
    st.lists(st.floats(0.02, 2.0), min_size=1, max_size=6),
    st.sampled_from([0.01, 0.02, 0.05]),
)
def test_periods_hold_their_iterations_and_meet(times_s: list[float], most: float) -> None:
    precision = Precision(max_rounding=most, max_perimeter_s=400.0)
    periods = common_periods(times_s, precision)
    assert periods.perimeter_s <= precision.max_perimeter_s
    assert periods.rounding <= most + 1e-6
    for time_s, period_s, count in zip(times_s, periods.periods_s, periods.repeats, strict=True):
        assert time_s * (1 - 1e-6) <= period_s <= time_s * (1 + periods.rounding + 1e-6)
        assert period_s * count == pytest.approx(periods.perimeter_s)


@given(st.lists(st.floats(0.05, 0.5), min_size=2, max_size=4))
def test_no_shorter_perimeter_would_do(times_s: list[float]) -> None:
    periods = common_periods(times_s, TWO_PERCENT)
    if periods.perimeter_s == max(times_s):
        return  # shorter than that, a job would not fit into it
    shorter_s = np.linspace(max(times_s) * (1 + 1e-9), periods.perimeter_s * (1 - 1e-6), 3000)
    repeats = np.floor(shorter_s[:, None] / np.array(times_s) + 1e-12)
    rounding = (shorter_s[:, None] / repeats / np.array(times_s) - 1).max(axis=1)
    assert (rounding > 0.02).all()


def test_times_that_do_not_meet_are_refused_with_both_limits() -> None:
    with pytest.raises(IncomparableError) as caught:
        common_periods([31.0, 40.0, 31.0], TWO_PERCENT)
    said = str(caught.value)
    for wanted in ("31", "40", "within 60 s", "more than 2%"):
        assert wanted in said


def test_of_many_times_a_few_are_named() -> None:
    with pytest.raises(IncomparableError, match="and 6 more"):
        common_periods([31.0 + each for each in range(10)], TWO_PERCENT)


@pytest.mark.parametrize("times_s", [[], [0.0], [0.1, 0.0], [-0.1], [math.inf], [math.nan]])
def test_a_period_is_above_zero(times_s: list[float]) -> None:
    with pytest.raises(ValueError, match="period above zero") as caught:
        common_periods(times_s, TWO_PERCENT)
    assert not isinstance(caught.value, IncomparableError)


@pytest.mark.parametrize(
    "wrong",
    [
        {"degrees": 0.0}, {"degrees": 181.0}, {"degrees": math.nan}, {"max_rounding": -0.1},
        {"max_rounding": 0.2}, {"worthwhile_rounding": 1.0}, {"max_perimeter_s": 0.0},
        {"max_perimeter_s": math.inf},
    ],
)  # fmt: skip
def test_a_precision_has_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"it must be"):
        Precision(**wrong)


@pytest.mark.parametrize(("degrees", "angles"), [(5, 72), (1, 360), (64, 6), (128, 3), (180, 2)])
def test_degrees_are_angles_of_a_turn(degrees: float, angles: int) -> None:
    assert Precision(degrees=degrees).num_angles == angles
