"""The best of several placements (Algorithm 2). Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.scheduling.cassini.interleaving import Interleaving, interleave
from harness.scheduling.cassini.links import SharedLink
from harness.scheduling.cassini.memo import Rotations

Statistic = Literal["mean", "min", "tail"]

TAIL_PERCENTILE = 10.0

STATISTICS: dict[Statistic, Callable[[Sequence[float]], float]] = {
    "mean": lambda scores: float(np.mean(scores)),
    "min": lambda scores: float(np.min(scores)),
    "tail": lambda scores: float(np.percentile(scores, TAIL_PERCENTILE)),
}
"""From the scores of a placement's links to that of the placement."""


@dataclass(frozen=True)
class Ranking:
    """Candidates by how well their jobs fit.

    scores: of every candidate, 1 for one without shared links, not-a-number for a discarded one.
    order: positions of those that were not discarded, the best first; of equally good ones the
    earlier first. discarded_by_loops, discarded_as_incomparable: how many were, and why.
    """

    interleavings: tuple[Interleaving, ...]
    scores: tuple[float, ...]
    order: tuple[int, ...]
    discarded_by_loops: int
    discarded_as_incomparable: int

    @property
    def best(self) -> int | None:
        """Position of the best candidate; None where all were discarded."""
        return self.order[0] if self.order else None


def score_of(
    interleaving: Interleaving, statistic: Statistic = "mean", num_ports: int | None = None
) -> float:
    """The score of a placement; 1 where nothing is shared, not-a-number where it is not whole.

    num_ports: that carry any job. A port with one job alone scores 1 and counts like any other, so
    that a placement does not win by sharing more ports, some of them well. None where that is not
    known: then shared links alone count.
    """
    if not interleaving.complete:
        return math.nan
    if num_ports is None:
        scores = list(interleaving.scores)
    else:
        shared = [each for each in interleaving.links if each.score is not None]
        scores = [each.score or 0.0 for each in shared for _ in each.link.ports]
        scores += [1.0] * (num_ports - len(scores))
    return STATISTICS[statistic](scores) if scores else 1.0


def rank(
    candidates: Iterable[Sequence[SharedLink]],
    rotations: Rotations,
    statistic: Statistic = "mean",
    num_ports: Sequence[int] | None = None,
) -> Ranking:
    """Rank placements, each given by its shared links.

    num_ports: of each, see score_of.

    Discarded is one whose affinity graph has a loop on which its links contradict each other, and
    one with links whose jobs cannot be compared.
    """
    found = tuple(interleave(links, rotations) for links in candidates)
    counts: Sequence[int | None] = num_ports or [None] * len(found)
    scores = tuple(
        score_of(each, statistic, count) for each, count in zip(found, counts, strict=True)
    )
    kept = [position for position, score in enumerate(scores) if not math.isnan(score)]
    return Ranking(
        found,
        scores,
        tuple(sorted(kept, key=lambda position: -scores[position])),
        sum(bool(each.contradictions) for each in found),
        sum(bool(each.incomparable) and not each.contradictions for each in found),
    )
