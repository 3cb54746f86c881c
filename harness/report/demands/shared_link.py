"""What a drawing of jobs on one link shows: their circles before and after rotation. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.report.thinning import Floats
from harness.report.words import bit_rate, listed, percent, seconds
from harness.scheduling.cassini.circle import UnifiedCircle
from harness.scheduling.cassini.rotation import Rotation, compatibility_score

_ROUNDING = 1e-3  # a load that is above the capacity by no more of it is so by rounding


@dataclass(frozen=True, eq=False)
class TurnedCircle:
    """The unified circle of a link with its jobs delayed.

    demand_bps: of each job in each slice, shape (jobs, slices). is_over: shape (slices,), where the
    jobs ask for more than the link carries. excess: the share of what they ask for that is more.
    score: of this rotation.
    """

    demand_bps: Floats
    is_over: NDArray[np.bool_]
    excess: float
    score: float

    @property
    def total_bps(self) -> Floats:
        """What all jobs ask for, shape (slices,)."""
        return np.asarray(self.demand_bps.sum(axis=0))


@dataclass(frozen=True, eq=False)
class SharedLinkDrawing:
    """Jobs on one link, starting at once and with their time-shifts.

    jobs: their names, each another one. words: one sentence that says what to see.
    """

    jobs: tuple[str, ...]
    capacity_bps: float
    perimeter_s: float
    before: TurnedCircle
    after: TurnedCircle
    words: str

    @property
    def largest_bps(self) -> float:
        """The largest load of both circles, or the capacity where that is larger."""
        loads = (self.before.total_bps.max(), self.after.total_bps.max())
        return max(self.capacity_bps, *map(float, loads))


def shared_link_drawing(jobs: Sequence[str], rotation: Rotation) -> SharedLinkDrawing:
    """The ``jobs`` of the circle of ``rotation``, before and after it."""
    circle = rotation.circle
    before = _turned(circle, [0.0] * len(jobs))
    after = _turned(circle, rotation.shifts_s)
    names = distinct_names(jobs)
    words = _words(names, circle, rotation.shifts_s, before, after)
    return SharedLinkDrawing(names, circle.capacity_bps, circle.perimeter_s, before, after, words)


def distinct_names(jobs: Sequence[str]) -> tuple[str, ...]:
    """``jobs``, numbered where two have one name: 'vgg19 (1)'."""
    return tuple(
        f"{job} ({list(jobs[: place + 1]).count(job)})" if list(jobs).count(job) > 1 else job
        for place, job in enumerate(jobs)
    )


def steps(demand_bps: Floats) -> list[tuple[int, int]]:
    """The runs of slices, first and one behind the last, in which no row of (jobs, slices)
    changes."""
    changes = np.flatnonzero((np.diff(demand_bps, axis=1) != 0).any(axis=0)) + 1
    edges = [0, *changes.tolist(), demand_bps.shape[1]]
    return list(itertools.pairwise(edges))


def _turned(circle: UnifiedCircle, shifts_s: Sequence[float]) -> TurnedCircle:
    """The jobs delayed to the nearest slice."""
    demand = np.stack(
        [
            np.roll(row, round(shift_s / circle.slice_s))
            for row, shift_s in zip(circle.demand_bps, shifts_s, strict=True)
        ]
    )
    total = demand.sum(axis=0)
    is_over = total > circle.capacity_bps * (1 + _ROUNDING)
    excess_bps = float((total - circle.capacity_bps)[is_over].sum())
    return TurnedCircle(
        demand,
        is_over,
        excess_bps / float(total.sum()) if excess_bps else 0.0,
        float(compatibility_score(total, circle.capacity_bps)),
    )


def _words(
    jobs: Sequence[str],
    circle: UnifiedCircle,
    shifts_s: Sequence[float],
    before: TurnedCircle,
    after: TurnedCircle,
) -> str:
    moved = [
        f"{job} delayed by {seconds(shift_s)}"
        for job, shift_s in zip(jobs, shifts_s, strict=True)
        if shift_s
    ]
    at_once = (
        f"Of what the jobs send in a turn of {seconds(circle.perimeter_s)}, {_share(before)} lies "
        f"above the {bit_rate(circle.capacity_bps)} of the link when all start at once"
    )
    if not moved:
        return f"{at_once}; no time-shift makes it less."
    return f"{at_once}, and {_share(after)} with {listed(moved)}."


def _share(turned: TurnedCircle) -> str:
    return percent(turned.excess) if turned.excess else "nothing"
