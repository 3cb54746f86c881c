"""How often jobs arrive by the hour of the week or of the day, as a trace shows it.

A Poisson process whose rate r(t) is constant inside each hour and repeats with its period. Its
arrivals are those of a process of rate 1, at the times t at which the expected number
L(t) = integral of r from 0 to t reaches them (Cinlar, Introduction to Stochastic Processes, 1975,
section 4.7: exact, and without the candidates that thinning throws away).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from traces.errors import BadInputError
from traces.hours_of_week import (
    HOUR_S,
    HOURS_OF_DAY,
    HOURS_OF_WEEK,
    Floats,
    Ints,
    covered_s,
    hours_of,
    since_monday_s,
)
from traces.job_trace import JobTrace, instant_of

Period = Literal["week", "day", "none"]
"""What repeats. ``none``: the rate is the same at all times."""

PERIODS: dict[Period, int] = {"week": HOURS_OF_WEEK, "day": HOURS_OF_DAY, "none": 1}
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
        return hours_of(time_s, self.phase_s, len(self.per_s))

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


def repeating_rate(trace: JobTrace, period: Period) -> RepeatingRate:
    """The rate of ``trace``: of every hour of the period, its jobs by the time it was seen for,
    from time 0 to the last submission.

    Hours are those of ``trace.began``, in UTC where it has an offset; where it is not known, they
    count from time 0. Raises BadInputError where the trace is shorter than the period, so that some
    hour was not seen in full.
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
    of_week_s = 0.0 if trace.began is None else since_monday_s(instant_of(trace.began))
    phase_s = of_week_s % (hours * HOUR_S)
    counts = np.bincount(hours_of(submit_s, phase_s, hours), minlength=hours)
    return RepeatingRate(counts / covered_s(span_s, phase_s, hours), phase_s)
