"""Which points of a grid are measured, in which order, and what is modelled from them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from profiler.allocation import Allocation
from profiler.measuring.fetching import FetchingSource, miss_cpu_s, telling_place
from profiler.sensitivity.cpu_curve import CpuCurve
from profiler.sensitivity.cpu_search import MOST_POINTS, CpuSearch
from profiler.sensitivity.measured_point import MeasuredPoint, Purpose
from profiler.sensitivity.memory_model import Fetching, with_overlap

Measure = Callable[[Allocation, Purpose], MeasuredPoint | None]
"""The point, or None where it is not known and cannot be measured any more."""

_LEAST_SEARCHED = 3
_GRID_SHARE = 1 / 5
"""Of the points of a grid, what an optimistic profile takes all in all."""
_BESIDE_SEARCH = 2
"""Points' worth of time: the one that tells the overlap, and the speeds of the machine."""


@dataclass(frozen=True)
class PointGrid:
    """cpus, cache_bytes: ascending; the last of cache_bytes is called full memory."""

    cpus: tuple[float, ...]
    cache_bytes: tuple[int, ...]

    @property
    def full_bytes(self) -> int:
        return self.cache_bytes[-1]

    @property
    def has_memory_axis(self) -> bool:
        return len(self.cache_bytes) > 1

    @property
    def first(self) -> Allocation:
        """The one that is measured first, and once more at the end."""
        return Allocation(self.cpus[-1], self.full_bytes)

    @property
    def most_searched(self) -> int:
        """Points of the search along CPUs: the paper's, or what a fifth of a small grid leaves."""
        if not self.has_memory_axis:
            return MOST_POINTS
        cells = len(self.cpus) * len(self.cache_bytes)
        return min(MOST_POINTS, max(_LEAST_SEARCHED, int(cells * _GRID_SHARE) - _BESIDE_SEARCH))

    def allocations(self) -> list[Allocation]:
        """Full memory first, for which the cache is filled once, and the most CPUs first."""
        return [
            Allocation(cpus, cache_bytes)
            for cache_bytes in reversed(self.cache_bytes)
            for cpus in reversed(self.cpus)
        ]


@dataclass(frozen=True, eq=False)
class SpeedModel:
    """curve: over CPUs at full memory. fetching: what makes it slower with less.

    seen: the point of less memory that ``fetching`` rests on, where it needs one.
    """

    curve: CpuCurve
    fetching: Fetching
    seen: MeasuredPoint | None

    def rests_on(self, grid: PointGrid, point: MeasuredPoint) -> bool:
        """Whether ``point`` is one of those that were needed for it."""
        if point.purpose == "drift":
            return False
        searched = self.curve.cpus[self.curve.measured].tolist()
        at_full = point.allocation.cache_bytes == grid.full_bytes
        return (at_full and point.allocation.cpus in searched) or point == self.seen


def speed_model(grid: PointGrid, measure: Measure, source: FetchingSource) -> SpeedModel | None:
    """Measure along CPUs at full memory, and model the rest (Synergy, OSDI'22: optimistic
    profiling). None where no point along CPUs has a time."""
    searched: dict[float, MeasuredPoint] = {}
    curve = _search(grid, measure, searched)
    if curve is None:
        return None
    if not grid.has_memory_axis:
        return SpeedModel(curve, Fetching(0, 0, 1), None)
    fetching = source.fetching(curve.cpus)
    if fetching is None:
        cold = measure(Allocation(grid.cpus[-1], grid.cache_bytes[0]), "memory")
        return SpeedModel(curve, source.seen(cold), cold)
    fetching = replace(fetching, full_cache_bytes=grid.full_bytes)
    place = telling_place(curve, grid.cache_bytes, fetching)
    seen = None if place is None else measure(place, "memory")
    if seen is None:
        return SpeedModel(curve, fetching, None)
    cpu_s = miss_cpu_s(fetching, searched[seen.allocation.cpus], seen)
    fetching = replace(fetching, miss_cpu_s=cpu_s)
    return SpeedModel(curve, with_overlap(curve, fetching, [seen]), seen)


def _search(
    grid: PointGrid, measure: Measure, searched: dict[float, MeasuredPoint]
) -> CpuCurve | None:
    """searched: takes the points that have a time, by their CPUs."""
    search = CpuSearch(grid.cpus, grid.most_searched)
    while (cpus := search.next_point()) is not None:
        point = measure(Allocation(cpus, grid.full_bytes), "cpus")
        if point is None:
            break
        if point.is_measured:
            searched[cpus] = point
            search.add(cpus, point.iteration_s)
        else:
            search.skip(cpus)
    return search.curve() if searched else None


def random_points(
    grid: PointGrid, points: Sequence[MeasuredPoint], count: int, seed: int
) -> Sequence[Allocation]:
    """Up to ``count`` of the grid, to check the model at; the same ones after an interruption."""
    needed = {point.allocation for point in points if point.purpose in ("cpus", "memory")}
    others = [each for each in grid.allocations() if each not in needed]
    return random.Random(seed).sample(others, min(count, len(others)))  # noqa: S311 - a sample
