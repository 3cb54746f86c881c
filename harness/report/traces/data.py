"""A trace that is shown, and words for its amounts. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from harness.report.words import NOTHING, SPACE, duration, number
from traces.description import TraceDescription
from traces.job_trace import JobTrace

_S_PER_D = 86400.0
_DAYS_FROM_S = 3 * _S_PER_D


@dataclass(frozen=True)
class ShownTrace:
    """label: what tells it from the other one, such as the name of its file."""

    label: str
    trace: JobTrace
    description: TraceDescription


def long_time(value_s: float | None) -> str:
    """A time that may be months: ``61 s``, ``19.1 min``, ``53.6 d``."""
    if value_s is not None and value_s >= _DAYS_FROM_S:
        return f"{number(value_s / _S_PER_D)}{SPACE}d"
    return duration(value_s)


def maybe_number(value: float | None) -> str:
    """A number, or a dash where it is not known."""
    return NOTHING if value is None else number(value)
