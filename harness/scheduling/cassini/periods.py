"""One period for each job, such that all of them meet again after one perimeter. Pure.

The paper's perimeter is the least common multiple of the iteration times, which for measured times
is hours or does not exist. Here the perimeter comes first: a job of iteration time t runs
floor(perimeter / t) times in it, and its period is lengthened until it does so exactly. So nothing
explodes, a period is never shorter than the job's iteration, and times that do have a small common
multiple keep it and are not lengthened at all.

A job has the same period on every link. Its time-shift is a time modulo that period; with a
different rounding on each link, shifts that were right on one would drift apart on the other. So
periods are chosen once for all jobs that links connect, directly or through other jobs, and never
for a link by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.job_table import Floats
from harness.scheduling.cassini.precision import Precision
from traces.compiled import compiled
from traces.quantities import format_duration

_NOISE = 1e-9
_SHOWN = 4  # iteration times that a message names before it only counts them


class IncomparableError(ValueError):
    """Jobs cannot be brought onto one circle within the limits; says which and why."""


@dataclass(frozen=True)
class CommonPeriods:
    """repeats: iterations of each job in one perimeter. periods_s: perimeter_s / repeats.

    rounding: the largest share by which a period is longer than its job's iteration.
    """

    perimeter_s: float
    repeats: tuple[int, ...]
    periods_s: tuple[float, ...]
    rounding: float


def common_periods(iterations_s: Sequence[float], precision: Precision) -> CommonPeriods:
    """Periods of jobs with these iteration times, on the shortest perimeter within ``precision``.

    Raises ValueError for a time that is not above zero, IncomparableError where no perimeter up to
    the limit rounds every period by little enough.
    """
    if not iterations_s or not all(0 < time_s < np.inf for time_s in iterations_s):
        raise ValueError("a circle needs jobs with a period above zero")
    times_s = np.unique(np.array(iterations_s, dtype=np.float64))
    most = np.floor(precision.max_perimeter_s / times_s + _NOISE).astype(int)
    # The roundings grow with the perimeter except where it is a multiple of a time.
    multiples_s = [time * np.arange(1, n + 1) for time, n in zip(times_s, most, strict=True)]
    perimeters_s = np.unique(np.concatenate(multiples_s))
    found = _first_within(
        perimeters_s[perimeters_s >= times_s[-1] * (1 - _NOISE)], times_s, precision.max_rounding
    )
    if found < 0:
        raise IncomparableError(_too_long(times_s, precision))
    perimeter_s = max(found, float(times_s[-1]))
    repeats = [int(perimeter_s / time_s + _NOISE) for time_s in iterations_s]
    periods_s = [perimeter_s / count for count in repeats]
    rounding = max(new / old - 1 for new, old in zip(periods_s, iterations_s, strict=True))
    return CommonPeriods(perimeter_s, tuple(repeats), tuple(periods_s), max(rounding, 0.0))


def within_period(delay_s: float, period_s: float) -> float:
    """``delay_s`` modulo ``period_s``; what is a whole period but for noise is 0."""
    rest_s = delay_s % period_s
    return rest_s if rest_s < period_s * (1 - _NOISE) else 0.0


@compiled
def _first_within(perimeters_s: Floats, times_s: Floats, max_rounding: float) -> float:
    """The first of ``perimeters_s`` that lengthens no time by more; -1 where there is none."""
    for perimeter_s in perimeters_s:
        fits = True
        for time_s in times_s:
            repeats = np.floor(perimeter_s / time_s + _NOISE)
            if perimeter_s > repeats * time_s * (1 + max_rounding + _NOISE):
                fits = False
                break
        if fits:
            return float(perimeter_s)
    return -1.0


def _too_long(times_s: Floats, precision: Precision) -> str:
    shown = ", ".join(format_duration(time_s) for time_s in times_s[:_SHOWN])
    more = f" and {len(times_s) - _SHOWN} more" if len(times_s) > _SHOWN else ""
    return (
        f"the iteration times {shown}{more} do not meet within "
        f"{precision.max_perimeter_s:g} s, the limit of a unified circle, unless one of them is "
        f"lengthened by more than {precision.max_rounding:.0%}"
    )
