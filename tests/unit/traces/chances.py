"""Checks of drawn values that let chance be chance.

Each allows five standard errors, or a p-value that is as unlikely: with another seed, or another
version of numpy's generators, it would fail wrongly in 1 of 1.7 million cases.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

STANDARD_ERRORS = 5.0
_LEAST_P = float(2 * stats.norm.sf(STANDARD_ERRORS))

Floats = NDArray[np.float64]


def assert_mean(values: Floats, mean: float, deviation: float) -> None:
    """The mean of independent ``values`` is as near to ``mean`` as chance lets it be."""
    assert abs(values.mean() - mean) < STANDARD_ERRORS * deviation / np.sqrt(len(values))


def assert_distribution(values: Floats, cdf: Callable[[Floats], Floats]) -> None:
    """``values`` are as those of the continuous distribution ``cdf`` (Kolmogorov-Smirnov)."""
    assert stats.kstest(values, cdf).pvalue > _LEAST_P


def assert_counts(found: NDArray[np.int64], expected: Floats) -> None:
    """Counts of one draw are in the ratios ``expected`` (chi-square)."""
    counts = expected * found.sum() / expected.sum()
    assert counts.min() >= 5  # what the test needs
    assert stats.chisquare(found, counts).pvalue > _LEAST_P


def assert_poisson(found: int, expected: float) -> None:
    """``found`` is a count as of a Poisson process that expects many."""
    assert abs(found - expected) < STANDARD_ERRORS * np.sqrt(expected)
