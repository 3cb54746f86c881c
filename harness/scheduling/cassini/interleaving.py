"""Rotations and time-shifts for all shared links of one placement. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.scheduling.cassini.affinity import WeightedLink, connected, traverse
from harness.scheduling.cassini.links import SharedLink
from harness.scheduling.cassini.memo import LinkKey, Rotations
from harness.scheduling.cassini.periods import (
    CommonPeriods,
    IncomparableError,
    common_periods,
)
from harness.scheduling.cassini.rotation import Rotation, score_at

GIVEN_UP_SCORE = 0.015
"""By how much less than its best a link may score for a loop to count as consistent. One step of
five degrees more or less, which is how exact rotations are, costs a link up to 1/72."""


GENEROUS_JOBS = 5
"""Connected jobs up to which the worthwhile rounding is tried. For more, short common periods are
too far from some of them to gain much."""


@dataclass(frozen=True)
class RotatedLink:
    """A shared link with its best rotation by itself; None where ``incomparable`` says why.

    score: with the time-shifts of the interleaving; the rotation's, or a little less where the link
    closes a loop. Where its jobs have no shifts it is the rotation's.
    """

    link: SharedLink
    rotation: Rotation | None
    score: float | None = None
    incomparable: str = ""


@dataclass(frozen=True)
class Contradiction:
    """A link that closes a loop of the affinity graph and loses by it.

    score: with the shifts that all links before it give its jobs, against its best one.
    """

    link: SharedLink
    score: float
    best_score: float


@dataclass(frozen=True)
class JobShift:
    """A job's delay, from 0 to below its period."""

    shift_s: float
    period_s: float


@dataclass(frozen=True)
class Interleaving:
    """What CASSINI makes of one placement.

    shifts: of the jobs whose links agree on them. loops: independent loops of the affinity graph
    in which the links agree. contradictions: links on which they do not; the jobs that are
    connected with those have no shifts.
    """

    links: tuple[RotatedLink, ...]
    shifts: Mapping[str, JobShift]
    loops: int
    contradictions: tuple[Contradiction, ...]

    @property
    def incomparable(self) -> tuple[str, ...]:
        """Why there are links without a rotation, each reason once."""
        return tuple(dict.fromkeys(each.incomparable for each in self.links if not each.rotation))

    @property
    def scores(self) -> tuple[float, ...]:
        """The compatibility score of every link that has one."""
        return tuple(each.score for each in self.links if each.score is not None)

    @property
    def clipped(self) -> dict[str, float]:
        """Jobs that ask for more than a link has: the largest share of their bits left out."""
        found: dict[str, float] = {}
        for each in self.links:
            if each.rotation:
                for job, share in zip(each.link.jobs, each.rotation.circle.clipped, strict=True):
                    if share:
                        found[job] = max(share, found.get(job, 0.0))
        return found

    @property
    def period_rounding(self) -> float:
        """By how much the longest-stretched period of all jobs was lengthened, as a share."""
        roundings = [each.rotation.circle.period_rounding for each in self.links if each.rotation]
        return max(roundings, default=0.0)

    @property
    def complete(self) -> bool:
        """Whether every job on a shared link has its shift, and every link its score."""
        return not self.incomparable and not self.contradictions


def interleave(links: Sequence[SharedLink], rotations: Rotations) -> Interleaving:
    """Find every link's best rotation, and the time-shifts that give all links theirs.

    A loop of the affinity graph is accepted where no link gives up more than GIVEN_UP_SCORE for it.
    Raises ValueError for a job whose period is not above zero.
    """
    done: dict[int, RotatedLink] = {}
    shifts: dict[str, JobShift] = {}
    contradictions: list[Contradiction] = []
    loops = 0
    for positions in connected([link.jobs for link in links]):
        part = _kept_or_new(tuple(links[position] for position in positions), rotations)
        done.update(zip(positions, part.links, strict=True))
        shifts.update(part.shifts)
        loops += part.loops
        contradictions += part.contradictions
    in_order = tuple(done[position] for position in range(len(links)))
    return Interleaving(in_order, shifts, loops, tuple(contradictions))


def _kept_or_new(links: tuple[SharedLink, ...], rotations: Rotations) -> Interleaving:
    """Most candidates have most of their components in common."""
    found = rotations.components.get(links)
    if found is None:
        found = _interleave_connected(links, rotations)
        rotations.components.keep(links, found)
    return found


def _interleave_connected(links: Sequence[SharedLink], rotations: Rotations) -> Interleaving:
    """The same for links that are connected through their jobs.

    Of the periods that lengthen an iteration by little and of those that do so by more, the ones
    are taken with which less time is lost.
    """
    iterations_s = {
        job: curve.period_s
        for link in links
        for job, curve in zip(link.jobs, link.curves, strict=True)
    }
    precisions = [rotations.precision]
    if len(iterations_s) <= GENEROUS_JOBS:
        precisions.insert(0, rotations.precision.generous)
    tried: dict[tuple[int, ...], Interleaving] = {}
    for precision in precisions:
        try:
            periods = common_periods(list(iterations_s.values()), precision)
            if periods.repeats not in tried:
                tried[periods.repeats] = _with_periods(
                    links, tuple(iterations_s), periods, rotations
                )
        except IncomparableError as error:
            reason = f"jobs {', '.join(iterations_s)}: {error}"
            unknown = tuple(RotatedLink(link, None, incomparable=reason) for link in links)
            tried.setdefault((), Interleaving(unknown, {}, 0, ()))
    return max(tried.values(), key=_worth)


def _worth(interleaving: Interleaving) -> tuple[bool, float]:
    """Whether all have shifts, and what share of time is not lost.

    What is asked of a link above its capacity is sent later, and makes the iterations of its jobs
    about that much longer (1 - score); a rounding makes them just that much longer.
    """
    if interleaving.incomparable:
        return False, -math.inf
    roundings = {
        job: period_s / curve.period_s
        for each in interleaving.links
        if each.rotation
        for job, curve, period_s in zip(
            each.link.jobs, each.link.curves, each.rotation.circle.periods_s, strict=True
        )
    }
    kept = fmean(interleaving.scores) - fmean(roundings.values()) + 1
    return interleaving.complete, kept


def _with_periods(
    links: Sequence[SharedLink],
    jobs: Sequence[str],
    periods: CommonPeriods,
    rotations: Rotations,
) -> Interleaving:
    """Connected ``links`` with these periods of their ``jobs``.

    Raises IncomparableError where a link has no rotation.
    """
    repeats = dict(zip(jobs, periods.repeats, strict=True))
    found = [
        rotations.best(
            LinkKey(
                link.curves,
                link.capacity_bps,
                periods.perimeter_s,
                tuple(repeats[job] for job in link.jobs),
            )
        )
        for link in links
    ]
    periods_s = dict(zip(jobs, periods.periods_s, strict=True))
    order = _tightest_first(found)
    traversal = traverse(
        [WeightedLink(links[index].jobs, found[index].shifts_s) for index in order], periods_s
    )
    scores = [rotation.score for rotation in found]
    closing = [order[position] for position in traversal.closed_by]
    for index in closing:
        shifts_s = [traversal.shifts_s[job] for job in links[index].jobs]
        scores[index] = score_at(found[index].circle, shifts_s)
    contradictions = tuple(
        Contradiction(links[index], scores[index], found[index].score)
        for index in closing
        if scores[index] < found[index].score - GIVEN_UP_SCORE
    )
    if contradictions:
        as_best = zip(links, found, strict=True)
        rotated = tuple(RotatedLink(link, best, best.score) for link, best in as_best)
        return Interleaving(rotated, {}, 0, contradictions)
    rotated = tuple(RotatedLink(*each) for each in zip(links, found, scores, strict=True))
    shifts = {job: JobShift(shift_s, periods_s[job]) for job, shift_s in traversal.shifts_s.items()}
    return Interleaving(rotated, shifts, traversal.loops, ())


def _tightest_first(rotations: Sequence[Rotation]) -> list[int]:
    """The order to follow links in, so that it is links with slack that close the loops.

    The lowest scores first, and of those that score the same the most loaded ones.
    """
    return sorted(
        range(len(rotations)),
        key=lambda index: (round(rotations[index].score, 9), -rotations[index].circle.load),
    )
