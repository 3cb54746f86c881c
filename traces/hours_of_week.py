"""Hours that repeat, such as those of a week: which one a time lies in, and how long each is seen.

A period has ``hours`` hours; ``phase_s`` of it are over at time 0. Pure.
"""

from __future__ import annotations

import datetime

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HOUR_S = 3600.0
HOURS_OF_DAY, DAYS_OF_WEEK = 24, 7
HOURS_OF_WEEK = HOURS_OF_DAY * DAYS_OF_WEEK


def since_monday_s(instant: datetime.datetime) -> float:
    """How much of its week is over at ``instant``, on its own clock: the phase of a week."""
    minutes = (instant.weekday() * HOURS_OF_DAY + instant.hour) * 60 + instant.minute
    return minutes * 60 + instant.second + instant.microsecond / 1e6


def hours_of(time_s: Floats, phase_s: float, hours: int) -> Ints:
    """The hour of the period, from 0, that each of ``time_s`` lies in; of the same shape."""
    return np.floor_divide(time_s + phase_s, HOUR_S).astype(np.int64) % hours


def covered_s(span_s: float, phase_s: float, hours: int) -> Floats:
    """(hours,): for how long each hour of the period lies between time 0 and ``span_s``."""
    whole, rest_s = divmod(span_s, hours * HOUR_S)
    edges_s = HOUR_S * np.arange(2 * hours + 1)
    inside_s = np.diff(np.clip(edges_s, phase_s, phase_s + rest_s))
    return np.asarray(whole * HOUR_S + inside_s.reshape(2, hours).sum(axis=0))
