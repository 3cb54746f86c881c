"""Which numbers of CPUs to measure at: binary search, and then where the curve is least certain.

(Synergy, OSDI'22: optimistic profiling.) Pure: times go in, the next number of CPUs comes out.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from profiler.sensitivity.cpu_curve import (
    KNEE_TOLERANCE,
    CpuCurve,
    Floats,
    interpolated,
    knee_of,
    uncertainty,
)
from profiler.sensitivity.isotonic import risen

MOST_POINTS = 8
"""Of 24 CPUs (the paper)."""

THRESHOLD = 0.1
"""A gain of speed that is worth more CPUs (the paper: say 10 %)."""


class CpuSearch:
    """Proposes points of ``cpus``, rising, until ``most_points`` are spent or none is worth it.

    First the most CPUs, whose speed is the best there is, and the fewest. Then binary search: where
    the best gains less than THRESHOLD on a point, the lower half is next, else the upper one. Then,
    between points that differ by more than THRESHOLD, where the interpolation is uncertain by more
    than that; then the ideal demand, until it and the point below it are measured; and last, what
    is least certain of the rest.

    Measured times that rise with CPUs, by noise, are taken as ``risen`` repairs them.
    """

    def __init__(self, cpus: Sequence[float], most_points: int = MOST_POINTS) -> None:
        """Raises ValueError where ``cpus`` do not rise from above 0, or most_points is below 1."""
        self._cpus: Floats = np.array(cpus, dtype=np.float64)
        if not (len(cpus) and self._cpus[0] > 0 and np.all(np.diff(self._cpus) > 0)):
            raise ValueError("numbers of CPUs are above 0, and rise")
        if most_points < 1:
            raise ValueError("a curve needs a point")
        self._most_points = most_points
        self._iteration_s: dict[int, float] = {}
        self._skipped: set[int] = set()

    @property
    def spent(self) -> int:
        """Points that were measured, or tried in vain."""
        return len(self._iteration_s) + len(self._skipped)

    def add(self, cpus: float, iteration_s: float) -> None:
        """Tell what was measured. Raises ValueError where ``cpus`` is none of the axis."""
        if not (iteration_s > 0 and np.isfinite(iteration_s)):
            raise ValueError("an iteration takes some time; say skip() where there was none")
        self._iteration_s[self._place(cpus)] = iteration_s

    def skip(self, cpus: float) -> None:
        """Tell that nothing can be measured there."""
        self._skipped.add(self._place(cpus))

    def next_point(self) -> float | None:
        """CPUs of the next point; None where the search is over."""
        if self.spent >= self._most_points:
            return None
        place = self._next_place()
        return None if place is None else float(self._cpus[place])

    def curve(self) -> CpuCurve:
        """The curve over all of the axis. Raises ValueError where no point was measured."""
        if not self._iteration_s:
            raise ValueError("no point was measured")
        places, times, repaired = self._measured()
        measured = np.zeros(len(self._cpus), dtype=bool)
        measured[places] = True
        return CpuCurve(
            self._cpus,
            interpolated(self._cpus, self._cpus[places], times),
            measured,
            np.where(measured, 0.0, uncertainty(self._cpus, self._cpus[places], times)),
            repaired,
        )

    def _place(self, cpus: float) -> int:
        found = np.flatnonzero(self._cpus == cpus)
        if not len(found):
            raise ValueError(f"{cpus:g} CPUs are not on the axis")
        return int(found[0])

    def _measured(self) -> tuple[list[int], Floats, float]:
        """Places in order, times there that never rise, and the largest change that took."""
        places = sorted(self._iteration_s)
        repair = risen(np.array([1 / self._iteration_s[place] for place in places]))
        return places, 1 / repair.values, repair.most

    def _next_place(self) -> int | None:
        usable = [place for place in range(len(self._cpus)) if place not in self._skipped]
        for end in (usable[-1:], usable[:1]):
            if end and end[0] not in self._iteration_s:
                return end[0]
        if not usable:
            return None
        proposals = (
            self._halving,
            functools.partial(self._least_certain, THRESHOLD),
            self._beside_knee,
            functools.partial(self._least_certain, 0.0),
        )
        found = (propose() for propose in proposals)
        return next((place for place in found if place is not None), None)

    def _halving(self) -> int | None:
        """The middle between the points known to be too slow and to be good enough."""
        places, times, _ = self._measured()
        gains = times / times[-1] - 1
        # Below the first point there is none, so that the search begins with half of all CPUs.
        too_few = max(
            (p for p, g in zip(places, gains, strict=True) if g >= THRESHOLD and p), default=-1
        )
        enough = min(p for p, g in zip(places, gains, strict=True) if g < THRESHOLD)
        middle = -(-(too_few + enough) // 2)
        if middle >= enough or not self._is_open(middle):
            return None
        return middle

    def _least_certain(self, at_least: float) -> int | None:
        """Where interpolation between points that differ is off by most, and ``at_least`` by so
        much."""
        places, times, _ = self._measured()
        uncertain = uncertainty(self._cpus, self._cpus[places], times)
        between = (
            place
            for left, right, slow, fast in zip(places, places[1:], times, times[1:], strict=False)
            if slow / fast - 1 >= THRESHOLD
            for place in range(left + 1, right)
            if self._is_open(place) and uncertain[place] >= at_least
        )
        return max(between, key=uncertain.__getitem__, default=None)

    def _beside_knee(self) -> int | None:
        """Where the ideal demand would be if the point below it were CPU-bound, in proportion."""
        places, times, _ = self._measured()
        knee = knee_of(times)
        if not knee:
            return None
        below = places[knee - 1]
        between = [place for place in range(below + 1, places[knee]) if self._is_open(place)]
        expected_cpus = self._cpus[below] * times[knee - 1] / times[-1] * (1 - KNEE_TOLERANCE)
        beyond = (place for place in between if self._cpus[place] >= expected_cpus)
        return next(beyond, between[-1] if between else None)

    def _is_open(self, place: int) -> bool:
        return place not in self._iteration_s and place not in self._skipped
