"""The time-shifts of a new placement, with as few jobs out of step as can be. Pure.

Time-shifts are unique up to a common rotation of the jobs that are connected by links (CASSINI,
NSDI'24, Theorem 1). It is chosen so that a job that runs already keeps its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness.scheduling.cassini.affinity import connected
from harness.scheduling.cassini.interleaving import Interleaving, JobShift
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.room import with_room
from harness.scheduling.cassini.time_shifts import least_scores, on_a_grid
from traces.schedule import TimeShift

_ROUNDING = 1e-9


def in_step(
    interleaving: Interleaving,
    before: Mapping[str, TimeShift],
    running: Mapping[str, object],
    rotations: Rotations,
) -> dict[str, TimeShift]:
    """Shifts of the jobs on shared links.

    Of connected jobs the first of ``running`` that has the same period as ``before`` stays in step.
    """
    found: dict[str, TimeShift] = {}
    interleaving = with_room(interleaving, rotations)
    scores = least_scores(interleaving)
    links = [each.link.jobs for each in interleaving.links]
    for component in connected(links):
        members = sorted({job for position in component for job in links[position]})
        shifts = {job: interleaving.shifts[job] for job in members if job in interleaving.shifts}
        turn_s = next(
            (
                before[job].shift_s - shifts[job].shift_s
                for job in running
                if job in shifts and job in before and _same_grid(shifts[job], before[job])
            ),
            0.0,
        )
        for job, shift in shifts.items():
            turned = on_a_grid(shift, scores[job], turn_s)
            same = job in before and _differ_by_rounding(turned, before[job])
            found[job] = before[job] if same else turned
    return found


def _differ_by_rounding(shift: TimeShift, before: TimeShift) -> bool:
    """Whether a job would wait for a point of the grid that it is on already."""
    period_s = before.grid_period_s
    apart_s = abs(shift.shift_s - before.shift_s)
    return (
        shift.is_held == before.is_held
        and math.isclose(shift.grid_period_s, period_s)
        and min(apart_s, abs(period_s - apart_s)) < _ROUNDING * period_s
    )


def _same_grid(shift: JobShift, before: TimeShift) -> bool:
    return before.is_held and math.isclose(
        on_a_grid(shift, 1.0).grid_period_s, before.grid_period_s
    )
