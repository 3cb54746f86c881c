"""Figures over several seeds, with 95 % confidence intervals. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A figure and its 95 % interval; without one where it rests on a single seed."""

    value: float
    low: float | None
    high: float | None
    seeds: int


def mean_over_seeds(values: Sequence[float]) -> Interval:
    """Mean of one figure a seed, with Student's interval."""
    array = np.asarray(values, dtype=float)
    mean = float(array.mean())
    if len(array) < 2:
        return Interval(mean, None, None, len(array))
    half = _quantile(len(array)) * float(array.std(ddof=1)) / np.sqrt(len(array))
    return Interval(mean, mean - half, mean + half, len(array))


def ratio_over_seeds(numerators: Sequence[float], denominators: Sequence[float]) -> Interval:
    """Geometric mean of the ratios of paired figures; Student's interval on their logarithms."""
    logs = np.log(np.asarray(numerators, dtype=float) / np.asarray(denominators, dtype=float))
    of_logs = mean_over_seeds(logs.tolist())
    low = None if of_logs.low is None else float(np.exp(of_logs.low))
    high = None if of_logs.high is None else float(np.exp(of_logs.high))
    return Interval(float(np.exp(of_logs.value)), low, high, of_logs.seeds)


def _quantile(count: int) -> float:
    from scipy import stats  # imported here: it takes most of a second, and most runs do not ask

    return float(stats.t.ppf((1 + _CONFIDENCE) / 2, count - 1))
