"""Periods that jobs can keep also where they do not fit. Pure.

At a score below 1 a link is asked for more than it has somewhere on the circle; iterations take
longer than alone, and each would miss a grid of the dedicated iteration time. Set apart once and
left to themselves, jobs whose iteration times are not exactly equal soon meet in every phase again.
What does not fit takes the link 1 - score of a perimeter. So all connected jobs get periods that
are longer by as much, and their circles, with so much more of a Down phase at the end, are rotated
anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.scheduling.cassini.affinity import connected
from harness.scheduling.cassini.interleaving import Interleaving, RotatedLink, interleave
from harness.scheduling.cassini.memo import Rotations
from traces.demand import DemandCurve

_FITS = 1 - 1e-6


def with_room(interleaving: Interleaving, rotations: Rotations) -> Interleaving:
    """``interleaving``, anew with longer periods where connected links score less than 1."""
    links = list(interleaving.links)
    shifts = dict(interleaving.shifts)
    for positions in connected([each.link.jobs for each in interleaving.links]):
        members = [interleaving.links[position] for position in positions]
        score = min((each.score for each in members if each.score is not None), default=1.0)
        if score < _FITS:
            longer = _interleave_longer(members, 2 - score, rotations)
            shifts.update(longer.shifts)
            for position, rotated in zip(positions, longer.links, strict=True):
                links[position] = rotated
    return replace(interleaving, links=tuple(links), shifts=shifts)


def _interleave_longer(
    members: Sequence[RotatedLink], factor: float, rotations: Rotations
) -> Interleaving:
    """With iterations ``factor`` times as long, and the same demand at the beginning of each."""
    links = []
    for each in members:
        curves = [DemandCurve(c.period_s * factor, c.phases) for c in each.link.curves]
        links.append(replace(each.link, curves=tuple(curves)))
    return interleave(links, rotations)
