"""Bootstrap intervals: as SciPy has them, of the same seed; and of several pairs a unit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.fidelity.bootstrap import (
    LEAST_RESAMPLES,
    RESAMPLES,
    SEED,
    Resampled,
    resample,
    resamples_of,
)
from harness.fidelity.pair_statistics import (
    Quantile,
    Ratio,
    RatioOfMeans,
    sums,
)

JOBS = 60


@pytest.fixture
def times_s() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    reference_s = rng.lognormal(6, 1, JOBS)
    return reference_s, reference_s * rng.lognormal(0.1, 0.3, JOBS)


def scipys(data: tuple[np.ndarray, ...], statistic: object, confidence: float) -> object:
    return stats.bootstrap(
        data,
        statistic,
        paired=True,
        vectorized=True,
        method="BCa",
        n_resamples=RESAMPLES,
        confidence_level=confidence,
        rng=np.random.default_rng(SEED),
    ).confidence_interval


def mean_ratio(reference_s: np.ndarray, prediction_s: np.ndarray, axis: int = -1) -> np.ndarray:
    return prediction_s.mean(axis=axis) / reference_s.mean(axis=axis)


def tail_ratio(reference_s: np.ndarray, prediction_s: np.ndarray, axis: int = -1) -> np.ndarray:
    above, below = (
        np.percentile(values, 90, axis=axis, method="inverted_cdf")
        for values in (prediction_s, reference_s)
    )
    return above / below


@pytest.mark.parametrize("confidence", [0.90, 0.95])
def test_the_intervals_are_those_of_scipy(
    times_s: tuple[np.ndarray, np.ndarray], confidence: float
) -> None:
    reference_s, prediction_s = times_s
    unit = np.arange(JOBS)
    mean, tail = resample(
        (
            RatioOfMeans(prediction_s, reference_s),
            Ratio(Quantile(prediction_s, unit, 0.9), Quantile(reference_s, unit, 0.9)),
        ),
        JOBS,
    )
    for ours, statistic in ((mean, mean_ratio), (tail, tail_ratio)):
        assert ours.value == pytest.approx(statistic(*times_s))
        assert ours.interval(confidence) == pytest.approx(
            tuple(scipys(times_s, statistic, confidence)), rel=1e-12
        )


def test_units_of_several_pairs_are_drawn_and_left_out_as_a_whole() -> None:
    rng = np.random.default_rng(2)
    unit = rng.permutation(np.repeat(np.arange(12), rng.integers(1, 6, 12)))
    values = rng.lognormal(0, 1, len(unit))
    found = Quantile(values, unit, 0.7)
    counts = rng.integers(0, 4, (5, 12))
    drawn = [np.repeat(values, row[unit]) for row in counts]
    expected = [np.percentile(each, 70, method="inverted_cdf") for each in drawn]
    np.testing.assert_array_equal(found.of(counts), expected)
    left = [np.percentile(values[unit != one], 70, method="inverted_cdf") for one in range(12)]
    np.testing.assert_array_equal(found.without_each(), left)
    means = RatioOfMeans(sums(values, unit), sums(np.ones_like(values), unit))
    assert means.of(counts) == pytest.approx([each.mean() for each in drawn])
    assert means.without_each() == pytest.approx([values[unit != one].mean() for one in range(12)])


def test_a_ratio_of_ratios_is_one_of_the_other() -> None:
    rng = np.random.default_rng(3)
    a, b, c, d = rng.lognormal(0, 1, (4, 30))
    (found,) = resample((Ratio(RatioOfMeans(a, b), RatioOfMeans(c, d)),), 30)

    def statistic(*data: np.ndarray, axis: int = -1) -> np.ndarray:
        a, b, c, d = (each.mean(axis=axis) for each in data)
        return (a / b) / (c / d)

    expected = tuple(scipys((a, b, c, d), statistic, 0.95))
    assert found.interval(0.95) == pytest.approx(expected, rel=1e-12)


def test_equal_ratios_have_an_interval_without_width() -> None:
    reference_s = np.array([1.0, 2.0, 4.0, 8.0])
    (found,) = resample((RatioOfMeans(2 * reference_s, reference_s),), 4)
    assert found.interval(0.95) == (2.0, 2.0)


def test_two_units_have_no_interval() -> None:
    (found,) = resample((RatioOfMeans(np.array([1.0, 3.0]), np.array([1.0, 2.0])),), 2)
    assert found.interval(0.95) is None


def test_large_samples_are_drawn_less_often() -> None:
    assert resamples_of(100_000) == RESAMPLES
    assert resamples_of(1_000_000) == 400
    assert resamples_of(10**9) == LEAST_RESAMPLES


def test_draws_that_differ_from_the_value_by_rounding_are_as_large() -> None:
    rng = np.random.default_rng(6)
    drawn = np.where(rng.random(RESAMPLES) < 0.3, 1.0, rng.normal(1, 0.1, RESAMPLES))
    rounded = np.where(drawn == 1, 1 - 1e-15, drawn)
    left_out = np.array([0.9, 1.0, 1.15])
    expected = Resampled(1.0, drawn, left_out).interval(0.95)
    assert expected is not None
    assert Resampled(1.0, rounded, left_out).interval(0.95) == pytest.approx(expected, rel=1e-12)
