"""How often jobs arrive by the hour of the week or of the day, as a trace shows it.

A Poisson process whose rate r(t) is constant inside each hour and repeats with its period. Its
arrivals are those of a process of rate 1, at the times t at which the expected number
L(t) = integral of r from 0 to t reaches them (Cinlar, Introduction to Stochastic Processes, 1975,
section 4.7: exact, and without the candidates that thinning throws away).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.job_trace import JobTrace

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Period = Literal["week", "day", "none"]
"""What repeats. ``none``: the rate is the same at all times."""

HOUR_S = 3600.0
PERIODS: dict[Period, int] = {"week": 168, "day": 24, "none": 1}
"""How many hours they have."""


@dataclass(frozen=True, eq=False)
class RepeatingRate:
    """A rate that repeats.

    per_s: (hours of the period,) arrivals a second; Monday 0:00 is the first hour of a week.
    phase_s: how much of the period is over at time 0.
    """

    per_s: Floats
    phase_s: float

    @property
    def jobs_per_hour(self) -> float:
        """Mean over the period."""
        return float(self.per_s.mean() * HOUR_S)

    def hours(self, time_s: Floats) -> Ints:
        """The hour of the period, from 0, that each of ``time_s`` lies in."""
        return _hours_of(time_s, self.phase_s, len(self.per_s))

    def expected(self, time_s: float) -> float:
        """How many arrivals are expected from time 0 until ``time_s``."""
        return self._from_beginning(time_s + self.phase_s) - self._from_beginning(self.phase_s)

    def times(self, expected: Floats) -> tuple[Floats, Ints]:
        """The times in s, from 0, until which so many arrivals are ``expected``, and the hours of
        the period that they lie in, which always have arrivals."""
        before = self._before()
        periods, rest = np.divmod(expected + self._from_beginning(self.phase_s), before[-1])
        # An hour without arrivals expects as many at its end as at its beginning: it is passed.
        hour = np.searchsorted(before, rest, side="right") - 1
        in_period_s = hour * HOUR_S + (rest - before[hour]) / self.per_s[hour]
        period_s = len(self.per_s) * HOUR_S
        return np.maximum(periods * period_s + in_period_s - self.phase_s, 0.0), hour

    def _before(self) -> Floats:
        """(hours + 1,): arrivals expected before each hour of the period, and in all of it."""
        return np.concatenate([[0.0], np.cumsum(self.per_s * HOUR_S)])

    def _from_beginning(self, time_s: float) -> float:
        """Arrivals expected within ``time_s`` of the beginning of a period."""
        before = self._before()
        edges_s = HOUR_S * np.arange(len(before))
        periods, rest_s = divmod(time_s, edges_s[-1])
        return float(periods * before[-1] + np.interp(rest_s, edges_s, before))


def _hours_of(time_s: Floats, phase_s: float, hours: int) -> Ints:
    """The hour of a period of so many ``hours`` that each time lies in."""
    return (np.floor_divide(time_s + phase_s, HOUR_S).astype(np.int64)) % hours


def repeating_rate(trace: JobTrace, period: Period) -> RepeatingRate:
    """The rate of ``trace``: of every hour of the period, its jobs by the time it was seen for,
    from time 0 to the last submission.

    Hours are those of ``trace.began``; where that is not known, they count from time 0. Raises
    BadInputError where the trace is shorter than the period, so that some hour was not seen in
    full.
    """
    hours = PERIODS[period]
    submit_s = trace.jobs["submit_s"].to_numpy()
    span_s = float(submit_s[-1])
    if span_s < hours * HOUR_S:
        shorter = [name for name in PERIODS if PERIODS[name] * HOUR_S <= span_s]
        raise BadInputError(
            f"the jobs come within {span_s / HOUR_S:.3g} h, less than the {hours} h that repeat",
            allowed=f"a longer trace{''.join(f', or the period {name!r}' for name in shorter)}",
        )
    phase_s = _seconds_of_week(trace.began) % (hours * HOUR_S)
    counts = np.bincount(_hours_of(submit_s, phase_s, hours), minlength=hours)
    return RepeatingRate(counts / _seen_s(span_s, phase_s, hours), phase_s)


def _seconds_of_week(began: str | None) -> float:
    if began is None:
        return 0.0
    at = datetime.fromisoformat(began)
    hour_s = at.minute * 60 + at.second + at.microsecond / 1e6
    return (at.weekday() * 24 + at.hour) * HOUR_S + hour_s


def _seen_s(span_s: float, phase_s: float, hours: int) -> Floats:
    """(hours,): for how long the ``span_s`` from ``phase_s`` on lies in each hour of the period."""
    whole, rest_s = divmod(span_s, hours * HOUR_S)
    edges_s = HOUR_S * np.arange(2 * hours + 1)
    inside_s = np.diff(np.clip(edges_s, phase_s, phase_s + rest_s))
    return np.asarray(whole * HOUR_S + inside_s.reshape(2, hours).sum(axis=0))
