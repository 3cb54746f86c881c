"""Points that are measured once, kept at once, and found again after an interruption."""

from __future__ import annotations

from collections.abc import Callable

from profiler.allocation import Allocation
from profiler.measuring.point_meter import PointMeter
from profiler.sensitivity.measured_point import MeasuredPoint, Purpose
from profiler.sensitivity.profile_state import ProfileState

Show = Callable[[str, int, int, float], None]
"""What is measured now, points done, points expected in all, seconds that the rest may take."""


class PointLog:
    """Measures by ``meter`` what ``state`` does not have yet. show: told before each point."""

    def __init__(self, meter: PointMeter, state: ProfileState, show: Show) -> None:
        self._meter = meter
        self._state = state
        self._show = show
        self._expected = 0

    @property
    def points(self) -> tuple[MeasuredPoint, ...]:
        """All, in the order in which they were measured."""
        return self._state.points

    def expect(self, points: int) -> None:
        """That at most so many more are to come, for the remaining time."""
        self._expected = max(points, 1)

    def known(self, allocation: Allocation, purpose: Purpose = "cpus") -> MeasuredPoint | None:
        """What was measured there, for whatever purpose; repetitions at the end apart."""
        del purpose
        for point in self.points:
            if point.allocation == allocation and point.purpose != "drift":
                return point
        return None

    def measure(self, allocation: Allocation, purpose: Purpose) -> MeasuredPoint:
        """The point, measured now where it is not known.

        Raises
        ------
        StoppedError: the person has asked to stop.
        TrainingFailedError: it failed, and nothing was measured before.
        """
        known = self.known(allocation)
        return self.repeat(allocation, purpose) if known is None else known

    def repeat(self, allocation: Allocation, purpose: Purpose) -> MeasuredPoint:
        """The point, measured now in any case. Errors as of ``measure``."""
        costs_s = [point.cost_s for point in self.points]
        mean_s = sum(costs_s) / len(costs_s) if costs_s else 0.0
        done = len(costs_s)
        self._show(_words(allocation), done, done + self._expected, mean_s * self._expected)
        point, records = self._meter.measure(allocation, purpose)
        if point.state == "failed" and not any(each.is_measured for each in self.points):
            raise self._meter.failure(point.reason)
        self._state.append(point, records)
        self._expected = max(self._expected - 1, 1)
        return point


def _words(allocation: Allocation) -> str:
    cpus = "1 CPU" if allocation.cpus == 1 else f"{allocation.cpus:g} CPUs"
    return f"{cpus}, {allocation.cache_bytes / 1e6:,.0f} MB cached"
