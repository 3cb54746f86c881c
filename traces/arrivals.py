"""When the jobs of a trace come: by the hour of the day and the day of the week. Pure."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np

from traces.hours_of_week import (
    DAYS_OF_WEEK,
    HOUR_S,
    HOURS_OF_DAY,
    HOURS_OF_WEEK,
    Floats,
    Ints,
    covered_s,
    hours_of,
    since_monday_s,
)


@dataclass(frozen=True)
class ArrivalPattern:
    """Mean rates in jobs/h; None for hours and days that the trace does not cover.

    by_hour: 24 of them, from midnight. by_weekday: 7 of them, from Monday.
    has_zone: whether the hours are those of a known time zone, UTC, and not of an unknown one.
    """

    by_hour: tuple[float | None, ...]
    by_weekday: tuple[float | None, ...]
    has_zone: bool


def arrival_pattern(submit_s: Floats, start: datetime.datetime) -> ArrivalPattern | None:
    """The pattern of jobs that were submitted ``submit_s`` after ``start``, in UTC or no zone.

    submit_s: shape (jobs,), ascending. Each hour counts with the time for which the trace covers
    it, from ``start`` to its last job. None where that is no time at all.
    """
    span_s = float(submit_s[-1])
    if span_s == 0:
        return None
    phase_s = since_monday_s(start)
    covered_h = covered_s(span_s, phase_s, HOURS_OF_WEEK) / HOUR_S
    jobs = np.bincount(hours_of(submit_s, phase_s, HOURS_OF_WEEK), minlength=HOURS_OF_WEEK)
    # The last job is the end of what is covered; where it falls on a full hour, that one is empty.
    jobs = np.where(covered_h > 0, jobs, 0)
    by_day = (DAYS_OF_WEEK, HOURS_OF_DAY)
    return ArrivalPattern(
        by_hour=_rates(jobs.reshape(by_day).sum(axis=0), covered_h.reshape(by_day).sum(axis=0)),
        by_weekday=_rates(jobs.reshape(by_day).sum(axis=1), covered_h.reshape(by_day).sum(axis=1)),
        has_zone=start.tzinfo is not None,
    )


def _rates(jobs: Ints, covered_h: Floats) -> tuple[float | None, ...]:
    return tuple(
        count / length_h if length_h > 0 else None
        for count, length_h in zip(jobs.tolist(), covered_h.tolist(), strict=True)
    )
