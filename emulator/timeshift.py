"""The time-shift agent of a job: keeps the starts of its iterations on a grid. Pure.

CASSINI (NSDI'24) delays a job by its time-shift and re-adjusts it when it drifts. A grid that is
just as long as the iteration can only be lost, since jitter makes a job late and never early; so
the grid is a little longer (``GRID_SLACK``) and a job that is early is held to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from traces.schedule import TimeShift

DRIFT_THRESHOLD = 0.05
"""Share of the period that a job may lag before it is re-aligned (5 %, unverified recollection of
the paper; the paper gives the frequency of adjustments, not the threshold)."""


@dataclass
class TimeShiftAgent:
    """Decides when the next iteration starts.

    anchor_s: common origin of all jobs' grids. shift_s: this job's delay on it. is_held: whether
    every iteration is on the grid; else the first one alone. A job that runs and has got this grid
    just now comes to it first, which is no adjustment.
    """

    anchor_s: float
    shift_s: float
    period_s: float
    drift_threshold: float = DRIFT_THRESHOLD
    adjustments: int = 0
    is_held: bool = True
    _due_s: float | None = field(default=None, init=False, repr=False)

    def first_start_s(self, earliest_s: float) -> float:
        """First grid point from ``earliest_s`` on."""
        offset_s = earliest_s - self.anchor_s - self.shift_s
        turns = math.ceil(offset_s / self.period_s - 1e-9)
        start_s = self.anchor_s + self.shift_s + turns * self.period_s
        self._due_s = start_s + self.period_s
        return start_s

    def next_start_s(self, ready_s: float) -> float:
        """Start of an iteration that could start at ``ready_s``.

        Before the grid point that follows the last one: there, however early that is. Within the
        threshold behind it: at once. Later than that the job has drifted: at the next grid point,
        and it counts as an adjustment.
        """
        due_s = self._due_s
        if due_s is None:
            return max(ready_s, self.first_start_s(ready_s))
        if not self.is_held:
            return ready_s
        if ready_s <= due_s + self.drift_threshold * self.period_s:
            self._due_s = due_s + self.period_s
            return max(ready_s, due_s)
        self.adjustments += 1
        return max(ready_s, self.first_start_s(ready_s))


def agent_of(shift: TimeShift | None, anchor_s: float) -> TimeShiftAgent | None:
    """The agent that keeps a job to ``shift``; see TimeShiftAgent. None where it has none."""
    if shift is None:
        return None
    return TimeShiftAgent(anchor_s, shift.shift_s, shift.grid_period_s, is_held=shift.is_held)
