"""How long an iteration may be, from the autocorrelation of its traffic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.signal import find_peaks

from traces.load_series import EvenLoad

LEAST_ITERATIONS = 4
LEAST_INTERVALS = 8
"""Of a period: with fewer, its phases cannot be told apart."""

_BLUR = 0.04  # iterations of unequal length widen a peak in proportion to its lag
_LEAST_PROMINENCE = 0.01
_NEAR_MOST = 0.9
_WORTH_A_TRY = 0.3
_MOST_BEFORE = 6
_MOST_BEHIND = 3
_MOST_TIMES = 8


def autocorrelation(load: EvenLoad) -> NDArray[np.float64]:
    """The correlation of the rate with itself, by lag in intervals, from 0 on.

    Intervals that were not sampled count for nothing. The lags go up to that at which the
    least number of iterations fits into the series.
    """
    observed = load.observed
    mean = np.average(load.rate_bytes_per_s, weights=observed)
    lags = len(load) // LEAST_ITERATIONS + 1
    size = fft.next_fast_len(len(load) + lags, real=True)
    products = _products((load.rate_bytes_per_s - mean) * observed, size)[:lags]
    pairs = _products(observed, size)[:lags]
    covariance = products / np.maximum(pairs, 1.0)
    return covariance / covariance[0] if covariance[0] > 0 else np.zeros(lags)


def candidate_periods(load: EvenLoad) -> tuple[list[int], list[int]]:
    """Lags, in intervals and ascending, one of which is near the period, if there is one; and more
    of them for the case that there is none.

    The peaks of the autocorrelation, after it was averaged over a share of each lag. The period is
    the first of nearly the most prominent; before it, peaks between phases of one iteration are
    less so.
    """
    correlation = autocorrelation(load)
    peaks, found = find_peaks(_averaged(correlation), height=0.0, prominence=_LEAST_PROMINENCE)
    prominences = found["prominences"][peaks >= LEAST_INTERVALS]
    lags = [_sharpened(correlation, peak) for peak in peaks[peaks >= LEAST_INTERVALS].tolist()]
    if not lags:
        return [], []
    main = int(np.argmax(prominences >= _NEAR_MOST * prominences.max()))
    before = np.flatnonzero(prominences[:main] >= _WORTH_A_TRY * prominences[main])
    before = before[np.argsort(prominences[before])][-_MOST_BEFORE:]
    # Jitter makes peaks flatter with their lag, and so may hide the period behind shorter lags.
    behind = [
        each
        for each in np.argsort(-prominences).tolist()
        if 1 < lags[each] / lags[main] <= _MOST_TIMES
    ]
    return (
        sorted({lags[index] for index in (main, *before.tolist())}),
        [lags[index] for index in behind[:_MOST_BEHIND]],
    )


def _products(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    spectrum = fft.rfft(values, size)
    result: NDArray[np.float64] = fft.irfft(spectrum.real**2 + spectrum.imag**2, size)
    return result


def _around(lags: NDArray[np.int64], last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last lag over which each is averaged."""
    reach = np.maximum(1, np.round(lags * _BLUR).astype(np.int64))
    return np.maximum(lags - reach, 0), np.minimum(lags + reach, last)


def _averaged(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.append(0.0, np.cumsum(correlation))
    first, last = _around(np.arange(len(correlation)), len(correlation) - 1)
    averages: NDArray[np.float64] = (sums[last + 1] - sums[first]) / (last + 1 - first)
    return averages


def _sharpened(correlation: NDArray[np.float64], peak: int) -> int:
    """Where the autocorrelation itself is highest around a ``peak`` of its average."""
    first, last = (int(each[0]) for each in _around(np.array([peak]), len(correlation) - 1))
    return first + int(np.argmax(correlation[first : last + 1]))
