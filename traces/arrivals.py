"""When the jobs of a trace come: by the hour of the day and the day of the week. Pure."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_HOURS, _WEEKDAYS = 24, 7
_HOURS_OF_WEEK = _HOURS * _WEEKDAYS
_S_PER_H = 3600.0


@dataclass(frozen=True)
class ArrivalPattern:
    """Mean rates in jobs/h; None for hours and days that the trace does not cover.

    by_hour: 24 of them, from midnight. by_weekday: 7 of them, from Monday.
    has_zone: whether the hours are those of a known time zone, UTC, and not of an unknown one.
    """

    by_hour: tuple[float | None, ...]
    by_weekday: tuple[float | None, ...]
    has_zone: bool


def arrival_pattern(
    submit_s: NDArray[np.float64], start: datetime.datetime
) -> ArrivalPattern | None:
    """The pattern of jobs that were submitted ``submit_s`` after ``start``, in UTC or no zone.

    submit_s: shape (jobs,), ascending. Each hour counts with the time for which the trace covers
    it, from ``start`` to its last job. None where that is no time at all.
    """
    monday = datetime.datetime.combine(start.date(), datetime.time(), start.tzinfo)
    monday -= datetime.timedelta(days=start.weekday())
    offset_h = (start - monday).total_seconds() / _S_PER_H
    span_h = float(submit_s[-1]) / _S_PER_H
    if span_h == 0:
        return None
    hours = (submit_s / _S_PER_H + offset_h) % _HOURS_OF_WEEK
    jobs = np.bincount(hours.astype("int64"), minlength=_HOURS_OF_WEEK)
    covered_h = _covered_h(offset_h, span_h)
    # The last job is the end of what is covered; where it falls on a full hour, that one is empty.
    jobs = np.where(covered_h > 0, jobs, 0)
    by_day = (_WEEKDAYS, _HOURS)
    return ArrivalPattern(
        by_hour=_rates(jobs.reshape(by_day).sum(axis=0), covered_h.reshape(by_day).sum(axis=0)),
        by_weekday=_rates(jobs.reshape(by_day).sum(axis=1), covered_h.reshape(by_day).sum(axis=1)),
        has_zone=start.tzinfo is not None,
    )


def _covered_h(offset_h: float, span_h: float) -> NDArray[np.float64]:
    """For how long each hour of a week lies between ``offset_h`` and ``span_h`` after that."""
    weeks, rest_h = divmod(span_h, _HOURS_OF_WEEK)
    edges_h = np.arange(2 * _HOURS_OF_WEEK + 1)
    overlap_h = np.clip(edges_h, offset_h, offset_h + rest_h)
    first, second = np.diff(overlap_h).reshape(2, _HOURS_OF_WEEK)
    return np.asarray(weeks + first + second, dtype="float64")


def _rates(jobs: NDArray[np.int64], covered_h: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(
        count / length_h if length_h > 0 else None
        for count, length_h in zip(jobs.tolist(), covered_h.tolist(), strict=True)
    )
