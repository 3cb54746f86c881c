"""The time-shift agent of a job: keeps the starts of its iterations on a grid. Pure.

CASSINI (NSDI'24) delays a job by its time-shift and re-adjusts it when it drifts. A grid that is
just as long as the iteration can only be lost, since jitter makes a job late and never early; so
the grid is a little longer (``GRID_SLACK``) and a job that is early is held to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

DRIFT_THRESHOLD = 0.05
"""Share of the period that a job may lag before it is re-aligned (5 %, unverified recollection of
the paper; the paper gives the frequency of adjustments, not the threshold)."""


@dataclass
class TimeShiftAgent:
    """Decides when the next iteration starts.

    anchor_s: common origin of all jobs' grids. shift_s: this job's delay on it.
    """

    anchor_s: float
    shift_s: float
    period_s: float
    drift_threshold: float = DRIFT_THRESHOLD
    adjustments: int = 0

    def next_start_s(self, ready_s: float) -> float:
        """Start of an iteration that could start at ``ready_s``.

        Within the threshold behind a grid point: at once. Otherwise: at the next grid point, and it
        counts as an adjustment where the job was late by more than the threshold.
        """
        phase_s = (ready_s - self.anchor_s - self.shift_s) % self.period_s
        tolerance_s = self.drift_threshold * self.period_s
        if phase_s <= tolerance_s:
            return ready_s
        if phase_s < self.period_s - tolerance_s:
            self.adjustments += 1
        return ready_s + self.period_s - phase_s

    def first_start_s(self, earliest_s: float) -> float:
        """First grid point from ``earliest_s`` on."""
        offset_s = earliest_s - self.anchor_s - self.shift_s
        turns = math.ceil(offset_s / self.period_s - 1e-9)
        return self.anchor_s + self.shift_s + turns * self.period_s
