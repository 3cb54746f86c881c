"""From readings of counters to bytes over time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiler.network.counter_process import NOT_READ
from profiler.network.device_counters import CountedDevice
from traces.load_series import LoadSeries
from traces.quantities import format_duration

_LONGEST = 3.0
"""Times the usual interval. In a longer one the bytes are known, but not how they lay in it."""

_BACKWARDS = 2**63
"""A step of a 64-bit counter by more than half of its range is one back, as after a reset."""

_FULL = 2**32 - 1
"""Where a classic counter of InfiniBand stands still."""

_SELDOM = 0.05
_NO_TIME_S = 1e-9
_COARSE = 5.0  # times the interval
_LEAST_CHANGES = 20


@dataclass(frozen=True, eq=False)
class Readings:
    """What a sampler has read.

    times_s: shape (readings,), ascending.
    counts: shape (readings, devices, 2), sent and received, in each device's units; NOT_READ where
        there was no number.
    wanted_interval_s: between two of them, as it was asked for.
    """

    times_s: NDArray[np.float64]
    counts: NDArray[np.uint64]
    wanted_interval_s: float

    @property
    def interval_s(self) -> float:
        """The usual one between two readings; the wanted one where there are none."""
        if len(self.times_s) < 2:
            return self.wanted_interval_s
        return float(np.median(np.diff(self.times_s)))

    @property
    def rate_hz(self) -> float:
        """Readings per second, as it was achieved."""
        if len(self.times_s) < 2:
            return 0.0
        return (len(self.times_s) - 1) / float(self.times_s[-1] - self.times_s[0])

    def series(self, index: int, device: CountedDevice) -> LoadSeries | None:
        """The bytes of ``device``, whose counts are at ``index``; None for less than two readings.

        Where it may show a value again for ``refresh_s``, readings that repeat one are merged into
        the interval in which the adapter looked anew. Intervals that are three times as long as
        usual, or in which a counter went back, are gaps.
        """
        was_read = (self.counts[:, index] != NOT_READ).all(axis=1)
        if was_read.sum() < 2:
            return None
        times_s, counts = self.times_s[was_read], self.counts[was_read, index]
        usual_s = self.interval_s
        notes = _notes(times_s, counts, device, usual_s)
        if not was_read.all():
            notes.append(f"readings that were no number: {(~was_read).sum():,}")
        if device.refresh_s is not None:
            kept = _kept(times_s, counts, device.refresh_s)
            times_s, counts = times_s[kept], counts[kept]
            usual_s = max(usual_s, device.refresh_s)
        steps = np.diff(counts, axis=0)  # of unsigned numbers: right also where a counter wraps
        went_back = steps > _BACKWARDS
        if went_back.any():
            number = int(went_back.any(axis=1).sum())
            notes.append(f"intervals in which the counter went back, taken as gaps: {number:,}")
        unknown = (np.diff(times_s) > _LONGEST * usual_s)[:, np.newaxis] | went_back
        in_bytes = np.where(unknown, np.nan, steps.astype(np.float64) * device.unit_bytes)
        return LoadSeries(times_s, in_bytes[:, 0], in_bytes[:, 1], device.name, tuple(notes))


def _notes(
    times_s: NDArray[np.float64],
    counts: NDArray[np.uint64],
    device: CountedDevice,
    usual_s: float,
) -> list[str]:
    notes = []
    if device.unit_bytes > 1 and (counts[-1] == _FULL).any():
        notes.append("a counter of 32 bits is full and stands still: reset it with perfquery -R")
    apart_s = np.diff(times_s[_changed(counts)])
    if device.refresh_s is None and len(apart_s) >= _LEAST_CHANGES:
        finest_s = float(apart_s.min())
        if finest_s > _COARSE * usual_s:
            notes.append(
                f"its counters never changed twice within {format_duration(finest_s)}: if the "
                "device updates them no more often, shorter phases do not show"
            )
    return notes


def _changed(counts: NDArray[np.uint64]) -> NDArray[np.intp]:
    """The readings that differ from those before them."""
    return np.flatnonzero((np.diff(counts, axis=0) != 0).any(axis=1)) + 1


def _kept(
    times_s: NDArray[np.float64], counts: NDArray[np.uint64], refresh_s: float
) -> NDArray[np.int64]:
    """Which readings stay: those with a new value, and such that lie a refresh before one.

    At a reading that repeats a value, bytes may have been sent that the adapter does not show yet.
    Only a refresh before the next new value is it certain that there were none. All stay where
    values change more often than ``refresh_s`` allows: the adapter always looks.
    """
    changed = _changed(counts)
    if len(changed) < 2 or np.mean(np.diff(times_s[changed]) < refresh_s / 2) > _SELDOM:
        return np.arange(len(times_s))
    kept = [np.array([0])]
    last = 0
    for new in (*changed.tolist(), len(times_s)):
        until_s = times_s[new] - refresh_s if new < len(times_s) else times_s[-1]
        steps_s = np.arange(times_s[last] + refresh_s, until_s, refresh_s)
        places = np.searchsorted(times_s, steps_s[steps_s <= until_s])
        kept += [places[times_s[places] <= until_s], np.array([new])]
        last = new
    return np.unique(np.concatenate(kept[:-1]))


def summed(series: Sequence[LoadSeries]) -> LoadSeries:
    """The bytes of all, by the intervals of the one that has the fewest, while all were counted.

    A gap of one is a gap of the sum.
    """
    coarsest = min(series, key=lambda each: len(each.edges_s))
    start_s = max(each.edges_s[0] for each in series)
    end_s = min(each.edges_s[-1] for each in series)
    edges_s = coarsest.edges_s[(coarsest.edges_s >= start_s) & (coarsest.edges_s <= end_s)]
    sent, received = np.zeros((2, len(edges_s) - 1))
    for each in series:
        sent += by_intervals(each.edges_s, each.sent_bytes, edges_s)
        if each.received_bytes is not None:
            received += by_intervals(each.edges_s, each.received_bytes, edges_s)
    return LoadSeries(edges_s, sent, received, " + ".join(each.source for each in series))


def by_intervals(
    edges_s: NDArray[np.float64], counted: NDArray[np.float64], others_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``counted`` between ``edges_s``, by the intervals between ``others_s``; NaN in a gap.

    Inside an interval the rate is taken as constant.
    """
    is_gap = np.isnan(counted)
    until = np.append(0.0, np.cumsum(np.where(is_gap, 0.0, counted)))
    missing_s = np.append(0.0, np.cumsum(np.diff(edges_s) * is_gap))
    unknown = np.diff(np.interp(others_s, edges_s, missing_s)) > _NO_TIME_S
    # Rounding may take a step of nothing below zero.
    steps = np.maximum(np.diff(np.interp(others_s, edges_s, until)), 0.0)
    return np.where(unknown, np.nan, steps)
