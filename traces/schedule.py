"""What a scheduler decides for a job, beside its place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TimeShift:
    """Iterations start at anchor + ``shift_s`` + k x ``grid_period_s`` (CASSINI's t_j: a delay).

    is_held: whether all of them; else the first one alone, and the job runs free from then on.
    """

    shift_s: float
    grid_period_s: float
    is_held: bool = True
