"""Bytes that one end of a link sent and received, over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_MAX_EVEN_INTERVALS = 2**23


@dataclass(frozen=True, eq=False)
class LoadSeries:
    """Bytes by intervals of time.

    edges_s: shape (n + 1), ascending; interval i lasts from edge i to edge i + 1.
    sent_bytes, received_bytes: shape (n), zero or more; NaN where an interval was not sampled.
    received_bytes is None where nobody counted them.
    source, notes: where the bytes come from, and what was found while they were read.
    origin_unix_s: the time at which edges_s has its 0, where that is known.

    Raises ValueError for other shapes and values.
    """

    edges_s: NDArray[np.float64]
    sent_bytes: NDArray[np.float64]
    received_bytes: NDArray[np.float64] | None = None
    source: str = ""
    notes: tuple[str, ...] = ()
    origin_unix_s: float | None = None

    def __post_init__(self) -> None:
        edges_s = self.edges_s
        if edges_s.ndim != 1 or len(edges_s) < 2:
            raise ValueError("a series has one interval or more")
        if not np.isfinite(edges_s).all() or not (np.diff(edges_s) > 0).all():
            raise ValueError("the edges of intervals are not finite and ascending")
        for counted in (self.sent_bytes, self.received_bytes):
            if counted is None:
                continue
            if counted.shape != (len(edges_s) - 1,):
                raise ValueError(
                    f"{counted.shape} bytes for {len(edges_s) - 1} intervals, and must be as many"
                )
            if np.isinf(counted).any() or (counted < 0).any():
                raise ValueError("bytes are not finite and zero or more")

    @property
    def duration_s(self) -> float:
        return float(self.edges_s[-1] - self.edges_s[0])

    @property
    def interval_s(self) -> float:
        """The median length of an interval."""
        return float(np.median(np.diff(self.edges_s)))

    @property
    def num_gaps(self) -> int:
        """Intervals in which the sent bytes were not sampled."""
        return int(np.isnan(self.sent_bytes).sum())

    def between(self, start_s: float, end_s: float) -> LoadSeries:
        """The intervals that lie from ``start_s`` to ``end_s`` as a whole; ValueError for none."""
        first = int(np.searchsorted(self.edges_s, start_s))
        last = int(np.searchsorted(self.edges_s, end_s, side="right")) - 1
        received = self.received_bytes
        return LoadSeries(
            self.edges_s[first : last + 1],
            self.sent_bytes[first:last],
            None if received is None else received[first:last],
            self.source,
            self.notes,
            self.origin_unix_s,
        )


@dataclass(frozen=True, eq=False)
class EvenLoad:
    """What was sent, on even intervals.

    rate_bytes_per_s: shape (n), over the part of each interval that was sampled; 0 where none was.
    observed: shape (n), that part, from 0 to 1.
    """

    start_s: float
    interval_s: float
    rate_bytes_per_s: NDArray[np.float64]
    observed: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.observed)

    def part(self, first: int, count: int) -> EvenLoad:
        """``count`` intervals from ``first`` on, or as many as there are."""
        return EvenLoad(
            self.start_s + first * self.interval_s,
            self.interval_s,
            self.rate_bytes_per_s[first : first + count],
            self.observed[first : first + count],
        )

    def coarser(self, factor: int) -> EvenLoad:
        """Intervals ``factor`` times as long; a rest at the end is left out."""
        whole = len(self) // factor * factor
        observed = self.observed[:whole].reshape(-1, factor)
        sent = self.rate_bytes_per_s[:whole].reshape(-1, factor) * observed
        return EvenLoad(
            self.start_s,
            self.interval_s * factor,
            _ratio(sent.sum(axis=1), observed.sum(axis=1)),
            observed.mean(axis=1),
        )


def even_load(series: LoadSeries) -> EvenLoad:
    """The sent bytes of ``series`` on intervals as long as its median one.

    Inside an interval of ``series`` the rate is taken as constant, so no byte is lost or added.
    Raises ValueError where that makes more than 8 million intervals.
    """
    interval_s = series.interval_s
    count = max(1, round(series.duration_s / interval_s))
    if count > _MAX_EVEN_INTERVALS:
        raise ValueError(
            f"{series.duration_s:g} s make {count:,} intervals of {interval_s:g} s, "
            f"and must make {_MAX_EVEN_INTERVALS:,} or less"
        )
    edges_s = series.edges_s[0] + interval_s * np.arange(count + 1)
    sampled = ~np.isnan(series.sent_bytes)
    sent_until = np.append(0.0, np.cumsum(np.where(sampled, series.sent_bytes, 0.0)))
    observed_until_s = np.append(0.0, np.cumsum(np.diff(series.edges_s) * sampled))
    sent = np.diff(np.interp(edges_s, series.edges_s, sent_until))
    observed_s = np.diff(np.interp(edges_s, series.edges_s, observed_until_s))
    # A sliver that rounding made of a gap says nothing of a rate.
    observed_s[observed_s < 1e-6 * interval_s] = 0.0
    return EvenLoad(
        start_s=float(series.edges_s[0]),
        interval_s=interval_s,
        rate_bytes_per_s=_ratio(sent, observed_s),
        observed=np.minimum(observed_s / interval_s, 1.0),
    )


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """``above`` / ``below``, 0 where that is 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
