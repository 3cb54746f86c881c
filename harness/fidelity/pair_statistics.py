"""Ratios of a prediction to a reference, as statistics of resampled units. Pure.

reference_s, prediction_s: (pairs,) of times; unit: (pairs,), to which unit each pair belongs, from
0, every unit with at least one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.fidelity.bootstrap import Counts, Floats

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class RatioOfMeans:
    """The mean of one amount over that of another. above, below: (units,), the sums of a unit."""

    above: Floats
    below: Floats

    @property
    def size(self) -> int:
        return len(self.above)

    def of(self, counts: Counts) -> Floats:
        ratio: Floats = (counts @ self.above) / (counts @ self.below)
        return ratio

    def without_each(self) -> Floats:
        ratio: Floats = (self.above.sum() - self.above) / (self.below.sum() - self.below)
        return ratio


@dataclass(frozen=True, eq=False)
class Ratio:
    """One statistic over another one of the same kind, of the same units."""

    above: RatioOfMeans | Quantile
    below: RatioOfMeans | Quantile

    @property
    def size(self) -> int:
        return self.above.size

    def of(self, counts: Counts) -> Floats:
        return self.above.of(counts) / self.below.of(counts)

    def without_each(self) -> Floats:
        return self.above.without_each() / self.below.without_each()


class Quantile:
    """The least value that at least a share of all pairs do not exceed (NumPy's inverted_cdf)."""

    def __init__(self, values: Floats, unit: Counts, share: float) -> None:
        order = np.argsort(values, kind="stable")
        self._values = values[order]
        self._unit = unit[order]
        self._share = share
        self._pairs = np.bincount(unit)

    @property
    def size(self) -> int:
        return len(self._values)

    def of(self, counts: Counts) -> Floats:
        """(resamples,)"""
        reached = np.cumsum(counts[:, self._unit], axis=1)
        wanted = self._rank(reached[:, -1])
        found: Floats = self._values[(reached >= wanted[:, None]).argmax(axis=1)]
        return found

    def without_each(self) -> Floats:
        """(units,): the rank moves up by as many of a unit's pairs as lie below."""
        size, units = len(self._values), len(self._pairs)
        places = np.sort(self._unit * size + np.arange(size))
        first = np.cumsum(self._pairs) - self._pairs
        start = np.arange(units) * size
        wanted = self._rank(size - self._pairs)
        rank = wanted
        while True:
            moved = wanted + np.searchsorted(places, start + rank) - first
            if (moved == rank).all():
                left: Floats = self._values[np.minimum(rank, size) - 1]
                return left
            rank = moved

    def _rank(self, pairs: Counts) -> Counts:
        """From 1, among so many."""
        rank: Counts = np.ceil(self._share * pairs - _ROUNDING).astype(np.int64)
        return np.maximum(rank, 1)


def sums(values: Floats, unit: Counts) -> Floats:
    """(units,)"""
    found: Floats = np.bincount(unit, weights=values).astype(float)
    return found
