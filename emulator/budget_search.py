"""Which load to try next when looking for the most that a box carries. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from emulator.verdict import CALIBRATION_LIMIT, IDLE_LIMIT

MOST_GROWTH = 2.0
"""Factor to the next load while all have held: a box is never asked for much more than it has."""

MOST_HALVINGS = 3
"""A box that does not hold an eighth of the first load has other work to do."""

LEAST_GROWTH = 1.15
"""The same, near the limit: below it two loads differ by less than two measurements of one."""


@dataclass(frozen=True)
class Probe:
    """A moment at one load: share of CPU time in use, relative error of the slowest transfer."""

    busy_share: float
    rate_error: float


@dataclass(frozen=True)
class Trial:
    """A load in bit/s x hops, and the medians of what its probes saw."""

    load_hop_bps: float
    busy_share: float
    rate_error: float

    @classmethod
    def of(cls, load_hop_bps: float, probes: Sequence[Probe]) -> Trial:
        """Medians: one disturbed probe does not count."""
        return cls(
            load_hop_bps,
            statistics.median(probe.busy_share for probe in probes),
            statistics.median(probe.rate_error for probe in probes),
        )

    @property
    def holds(self) -> bool:
        """Whether the verdict on a run would allow this CPU use and this rate error."""
        return self.busy_share <= 1 - IDLE_LIMIT and self.rate_error <= CALIBRATION_LIMIT


def most_carried(trials: Sequence[Trial]) -> Trial | None:
    """The trial of the largest load that held."""
    held = [trial for trial in trials if trial.holds]
    return max(held, key=lambda trial: trial.load_hop_bps, default=None)


def next_load_hop_bps(trials: Sequence[Trial]) -> float | None:
    """The load to try after ``trials`` (at least one); None where no other tells more.

    While all hold, as far up as their CPU use leaves room for; then between the two sides.
    """
    best = most_carried(trials)
    failed = min((trial.load_hop_bps for trial in trials if not trial.holds), default=math.inf)
    if best is None:
        return failed / 2 if len(trials) <= MOST_HALVINGS else None
    if math.isinf(failed):
        room = (1 - IDLE_LIMIT) / max(best.busy_share, 1e-3)
        return best.load_hop_bps * min(max(room, LEAST_GROWTH), MOST_GROWTH)
    between = math.sqrt(best.load_hop_bps * failed)
    return between if failed / best.load_hop_bps > LEAST_GROWTH else None
