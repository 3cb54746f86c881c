"""CASSINI as an interleaver: the time-shifts of an arm's jobs."""

from __future__ import annotations

from harness.scheduling.cassini.affinity import connected
from harness.scheduling.cassini.interleaving import Interleaving, JobShift
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.periods import within_period
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.room import with_room
from traces.arm import Arm
from traces.errors import BadInputError
from traces.schedule import TimeShift

GRID_SLACK = 0.005
"""How much longer than the iteration the grid's period is. A grid just as long as the iteration
can only be lost: jitter makes a job late and never early."""


HELD_SCORE = 0.98
"""What still does not fit is made up for by the room itself."""


def time_shifts(arm: Arm, interleaving: Interleaving) -> dict[str, TimeShift]:
    """A time-shift for each job that shares a link. A job alone on all its links has none.

    Raises BadInputError where jobs cannot be compared, and where links contradict each other.
    """
    for reason in interleaving.incomparable:
        raise BadInputError(
            f"in arm {arm.name!r} {reason}",
            allowed="jobs whose circles can be compared, or the interleaver none",
            key="scheduler.interleaver",
        )
    for against in interleaving.contradictions:
        link = against.link
        raise BadInputError(
            f"in arm {arm.name!r} the links of jobs {', '.join(link.jobs)} make a loop on which no "
            f"time-shifts suit all: {link.ports[0]} would score {against.score:.2f} instead of "
            f"{against.best_score:.2f}",
            allowed="servers or paths without such a loop, or the interleaver none",
            key="scheduler.interleaver",
        )
    roomy = with_room(interleaving, Rotations(Precision(arm.scheduler.precision)))
    scores = least_scores(roomy)
    return {job: on_a_grid(shift, scores[job]) for job, shift in roomy.shifts.items()}


def least_scores(interleaving: Interleaving) -> dict[str, float]:
    """For each job on a shared link the least score of all links that it is connected with, also
    over other jobs."""
    links = interleaving.links
    found: dict[str, float] = {}
    for positions in connected([each.link.jobs for each in links]):
        least = min((links[position].score or 0.0 for position in positions), default=1.0)
        for position in positions:
            found.update(dict.fromkeys(links[position].link.jobs, least))
    return found


def on_a_grid(shift: JobShift, least_score: float, turn_s: float = 0.0) -> TimeShift:
    """``shift``, turned on by ``turn_s``, as a time-shift. least_score: see least_scores.

    Where links score less even so (see ``room``), it is for a demand of many phases that no longer
    period makes fit; a grid would be lost again and again, each time at the cost of half a period
    or so. Such jobs are set apart once, and held to no grid.
    """
    return TimeShift(
        within_period(shift.shift_s + turn_s, shift.period_s),
        shift.period_s * (1 + GRID_SLACK),
        is_held=least_score >= HELD_SCORE,
    )
