"""The demands of the jobs of one link on one unified circle (section 3). Pure.

A job's demand curve is wrapped around a circle whose perimeter is its period; on the unified circle
of the link it appears as often as the job iterates in one perimeter. The circle is cut into slices
of equal time. Rotations are tried in steps of whole slices; a step follows from the degrees, a
slice is as much shorter as the phases need: a coarse angle must not blur the demand itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.job_table import Floats
from harness.scheduling.cassini.periods import CommonPeriods, IncomparableError, common_periods
from harness.scheduling.cassini.precision import Precision
from traces.compiled import compiled
from traces.demand import DemandCurve, Phase

_SLICES_A_PERIOD = 72
"""At least as many of the shortest period, whatever the precision of rotations is."""

_MAX_SLICES_A_STEP = 128
_LARGE_PHASE = 0.01
"""A slice is no longer than the shortest phase that carries this share of its job's bits. What is
shorter is averaged over a slice; no bit is lost."""

_ROUNDING = 1e-9
"""A rate that is above the capacity by no more of it is so by rounding."""

_MAX_CELLS = 2**23
"""jobs^2 x slices, of which the search keeps a few numbers each in memory: some 300 MiB."""


@dataclass(frozen=True)
class UnifiedCircle:
    """Demands of all jobs of a link on one circle.

    periods_s: shape (jobs,), perimeter_s / repeats. num_steps: rotations of the whole circle that
    are tried. slices_a_step: slices between two of them.
    """

    curves: tuple[DemandCurve, ...]
    capacity_bps: float
    perimeter_s: float
    periods_s: tuple[float, ...]
    repeats: tuple[int, ...]
    num_steps: int
    slices_a_step: int

    @property
    def num_slices(self) -> int:
        """Slices of the whole circle."""
        return self.num_steps * self.slices_a_step

    @property
    def slice_s(self) -> float:
        """Length of a slice."""
        return self.perimeter_s / self.num_slices

    @property
    def demand_bps(self) -> Floats:
        """The mean in each slice, at most the capacity, shape (jobs, slices).

        Computed anew each time: thousands of circles are kept, and few are looked at.
        """
        demand = np.empty((len(self.curves), self.num_slices))
        for row, curve, period_s, repeats in zip(
            demand, self.curves, self.periods_s, self.repeats, strict=True
        ):
            # Iterations of whole slices are copies, and so exactly alike.
            copies = repeats if self.num_slices % repeats == 0 else 1
            phases = [
                (p.start_s, p.end_s, min(p.rate_bps, self.capacity_bps)) for p in curve.phases
            ]
            row.reshape(copies, -1)[:] = _mean_rates(
                np.array(phases).reshape(-1, 3),
                period_s,
                repeats // copies,
                self.num_slices // copies,
            )
        return demand

    @property
    def clipped(self) -> tuple[float, ...]:
        """The share of each job's bits that was above the capacity and left out, shape (jobs,)."""
        return tuple(_clipped_share(curve, self.capacity_bps) for curve in self.curves)

    @property
    def load(self) -> float:
        """Mean demand of all jobs over the capacity."""
        shares = [
            sum(_bits(phase) for phase in curve.phases) * (1 - clipped) / period_s
            for curve, clipped, period_s in zip(
                self.curves, self.clipped, self.periods_s, strict=True
            )
        ]
        return sum(shares) / self.capacity_bps

    @property
    def period_rounding(self) -> float:
        """How much longer the longest-stretched period became, as a share."""
        return max(
            period_s / curve.period_s - 1
            for period_s, curve in zip(self.periods_s, self.curves, strict=True)
        )


def unified_circle(
    curves: Sequence[DemandCurve],
    capacity_bps: float,
    precision: Precision = Precision(),  # noqa: B008 (frozen)
    periods: CommonPeriods | None = None,
) -> UnifiedCircle:
    """Put ``curves`` on one circle; demand above ``capacity_bps`` is clipped and counted.

    periods: of these jobs among others, with a perimeter that may be several turns of this circle;
    None where these jobs are all. Raises ValueError as :func:`common_periods`, and
    IncomparableError where the circle would take too many slices.
    """
    if not 0 < capacity_bps < math.inf:
        raise ValueError(f"the capacity is {capacity_bps} bps, and must be more than 0")
    if periods is None:
        periods = common_periods([curve.period_s for curve in curves], precision)
    turns = math.gcd(*periods.repeats)
    repeats = tuple(count // turns for count in periods.repeats)
    perimeter_s = periods.perimeter_s / turns
    steps = _num_steps(repeats, precision.num_angles)
    slice_s = min(min(periods.periods_s) / _SLICES_A_PERIOD, _shortest_phase_s(curves))
    slices_a_step = math.ceil(perimeter_s / steps / slice_s - 1e-6)
    slices_a_step = min(max(slices_a_step, 1), _MAX_SLICES_A_STEP)
    if len(curves) ** 2 * steps * slices_a_step > _MAX_CELLS:
        raise IncomparableError(
            f"{len(curves)} jobs on a circle of {perimeter_s:.3g} s, in which one of them iterates "
            f"{max(repeats)} times, are more than can be compared in steps of "
            f"{precision.degrees:g} degrees"
        )
    return UnifiedCircle(
        tuple(curves),
        capacity_bps,
        perimeter_s,
        periods.periods_s,
        repeats,
        steps,
        slices_a_step,
    )


def _num_steps(repeats: Sequence[int], num_angles: int) -> int:
    """At least ``num_angles`` for the shortest period; whole ones in every period if that is cheap.

    It is where it adds a quarter at most. Where it would add more, the jobs meet at so many delays
    in one perimeter that it makes hardly a difference how they are rotated.
    """
    wanted = num_angles * max(repeats)
    common = math.lcm(*repeats)
    unit = common if 4 * common <= wanted else max(repeats)
    return unit * -(-wanted // unit)


def _shortest_phase_s(curves: Sequence[DemandCurve]) -> float:
    """The shortest phase of any job that carries a good part of the job's bits."""
    shortest_s = math.inf
    for curve in curves:
        least_bits = _LARGE_PHASE * sum(_bits(phase) for phase in curve.phases)
        for phase in curve.phases:
            if _bits(phase) >= least_bits > 0:
                shortest_s = min(shortest_s, phase.end_s - phase.start_s)
    return shortest_s


def _clipped_share(curve: DemandCurve, capacity_bps: float) -> float:
    most_bps = capacity_bps * (1 + _ROUNDING)
    over = [phase for phase in curve.phases if phase.rate_bps > most_bps]
    clipped_bits = sum((1 - capacity_bps / phase.rate_bps) * _bits(phase) for phase in over)
    return clipped_bits / sum(_bits(phase) for phase in curve.phases) if over else 0.0


def _bits(phase: Phase) -> float:
    return (phase.end_s - phase.start_s) * phase.rate_bps


@compiled
def _mean_rates(phases: Floats, period_s: float, repeats: int, slices: int) -> Floats:
    """The mean rate in each slice, shape (slices,). phases: rows of start, end and rate.

    A slice that a phase covers in part gets that part of its rate: bits are kept exactly.
    """
    slice_s = period_s * repeats / slices
    rates = np.zeros(slices)
    for turn in range(repeats):
        for phase in range(phases.shape[0]):
            start = (turn * period_s + phases[phase, 0]) / slice_s
            end = min((turn * period_s + phases[phase, 1]) / slice_s, float(slices))
            for index in range(int(start), min(int(np.ceil(end)), slices)):
                rates[index] += phases[phase, 2] * (min(end, index + 1.0) - max(start, index))
    return rates
