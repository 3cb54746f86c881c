"""What a scheduler decides for a job, beside its place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TimeShift:
    """Iterations start at anchor + ``shift_s`` + k x ``grid_period_s`` (CASSINI's t_j: a delay)."""

    shift_s: float
    grid_period_s: float
