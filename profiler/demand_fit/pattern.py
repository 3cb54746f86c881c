"""What a fit says of a series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiler.demand_fit.outliers import Unlike
from traces.demand import Demand, DemandCurve, Phase, Transfer

_WITHIN = 1.96  # standard errors: 95 % of a normal distribution
_PACED_BY_THE_LINK = 0.9  # of the line rate


@dataclass(frozen=True)
class Estimate:
    """A mean over iterations, and the interval that holds it with a probability of 95 %."""

    value: float
    low: float
    high: float

    @classmethod
    def of_mean(cls, values: Sequence[float] | NDArray[np.float64]) -> Estimate:
        """Of the mean of ``values``; of a single one without an interval."""
        mean = float(np.mean(values))
        count = len(values)
        error = float(np.std(values, ddof=1)) / math.sqrt(count) if count > 1 else 0.0
        return cls(mean, mean - _WITHIN * error, mean + _WITHIN * error)


@dataclass(frozen=True)
class FittedPhase:
    """An Up phase. start_s, end_s: from the start of the iteration on. bytes: above what is sent in
    the Down phases."""

    start_s: Estimate
    end_s: Estimate
    bytes: Estimate
    rate_bps: Estimate


@dataclass(frozen=True)
class Outlier:
    """An iteration that was left out. iteration: counted from 0, outliers too."""

    iteration: int
    start_s: float
    length_s: float
    sent_bytes: float
    why: Unlike


@dataclass(frozen=True)
class PatternFit:
    """What repeats from ``start_s`` to ``end_s``, on the clock of the series.

    iterations: whole ones, with the outliers. background_bps: what goes on in the Down phases.
    unexplained: bytes that are off the fit, as a share of all, without outliers.
    """

    start_s: float
    end_s: float
    iterations: int
    period_s: Estimate
    phases: tuple[FittedPhase, ...]
    background_bps: float
    unexplained: float
    outliers: tuple[Outlier, ...]

    @property
    def curve(self) -> DemandCurve:
        """The demand curve of one iteration, as it was sent."""
        return DemandCurve(
            self.period_s.value,
            tuple(
                Phase(phase.start_s.value, phase.end_s.value, phase.rate_bps.value)
                for phase in self.phases
            ),
        )

    def demand(self, line_rate_bps: float | None = None) -> Demand:
        """The demand: a transfer for each Up phase, ready when that begins.

        The compute timeline ends when the last transfer is ready, if that goes out at the line
        rate, by default that of the fastest phase: then the link paces the end of the iteration.
        Where the last phase is slower the sender does, and the timeline lasts as long as the
        iteration. Whether it waits for earlier transfers, no series of bytes can tell.
        """
        last = self.phases[-1]
        if line_rate_bps is None:
            line_rate_bps = max(phase.rate_bps.value for phase in self.phases)
        is_paced = last.rate_bps.value >= _PACED_BY_THE_LINK * line_rate_bps
        return Demand(
            compute_s=last.start_s.value if is_paced else self.period_s.value,
            transfers=tuple(
                Transfer(
                    ready_s=phase.start_s.value,
                    bytes=phase.bytes.value,
                    name=f"phase {number}",
                )
                for number, phase in enumerate(self.phases, start=1)
            ),
        )


@dataclass(frozen=True)
class SeriesFit:
    """The patterns of a series, one after the other: more than one where the pattern changes.

    unfitted: (start_s, end_s) of parts in which nothing repeats, on the clock of the series.
    """

    patterns: tuple[PatternFit, ...]
    unfitted: tuple[tuple[float, float], ...] = ()

    @property
    def longest(self) -> PatternFit:
        return max(self.patterns, key=lambda pattern: pattern.end_s - pattern.start_s)
