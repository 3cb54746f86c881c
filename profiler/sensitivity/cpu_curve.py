"""The time of an iteration over CPUs, from few measured points. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KNEE_TOLERANCE = 0.02
"""Speeds nearer to each other are the same: points are not measured better."""

_DOUBT = 0.1
"""Of what is left to rise up to the next point: by so much a curve may bend between two points even
where both ways to interpolate agree. The published ones do (traces/models/synergy.json)."""


@dataclass(frozen=True, eq=False)
class CpuCurve:
    """At full memory. Arrays are (points of the axis): ``cpus`` rises, ``iteration_s`` never does.

    measured: whether a point was; the others are interpolated. uncertain: by what share
    interpolation may be off, 0 where measured. repaired: the largest change, as a share, that made
    the measured times fall with CPUs.
    """

    cpus: Floats
    iteration_s: Floats
    measured: NDArray[np.bool_]
    uncertain: Floats
    repaired: float

    @property
    def knee(self) -> int:
        """Place on the axis of the ideal demand: the fewest CPUs that are as good as the most."""
        return knee_of(self.iteration_s)

    @property
    def knee_cpus(self) -> float:
        """CPUs of the ideal demand."""
        return float(self.cpus[self.knee])

    @property
    def is_knee_measured(self) -> bool:
        """Whether it was measured, and the point of fewer CPUs next to it too."""
        return bool(self.measured[max(self.knee - 1, 0) : self.knee + 1].all())

    def at(self, cpus: Floats) -> Floats:
        """Seconds of an iteration with any numbers of ``cpus``, through the measured points."""
        return interpolated(cpus, self.cpus[self.measured], self.iteration_s[self.measured])


def knee_of(iteration_s: Floats) -> int:
    """The first place whose speed is that of the last, within KNEE_TOLERANCE."""
    return int(np.argmax(iteration_s <= iteration_s[-1] / (1 - KNEE_TOLERANCE)))


def interpolated(wanted: Floats, cpus: Floats, iteration_s: Floats) -> Floats:
    """Seconds of an iteration with ``wanted`` CPUs, from points in the order of CPUs.

    Between two points it is a + b / CPUs, what is serial and what is shared out (Amdahl): exact
    where CPUs are the slowest stage and where they are not. Below the first it is in proportion to
    1 / CPUs, beyond the last it stays.
    """
    between = np.interp(-1 / wanted, -1 / cpus, iteration_s)
    below_first: Floats = np.maximum(cpus[0] / wanted, 1.0)
    return between * below_first


def uncertainty(wanted: Floats, cpus: Floats, iteration_s: Floats) -> Floats:
    """By what share ``interpolated`` may be off.

    How far another way to interpolate, speed linear in CPUs, is from it, and a tenth of how far
    the nearer of both neighbours is, above or below which no rising curve can be.
    """
    time_s = interpolated(wanted, cpus, iteration_s)
    other_s = 1 / np.interp(wanted, cpus, 1 / iteration_s)
    above = np.minimum(np.searchsorted(cpus, wanted), len(cpus) - 1)
    below = np.maximum(np.searchsorted(cpus, wanted, side="right") - 1, 0)
    left_to_rise = np.minimum(
        np.abs(np.log(iteration_s[below] / time_s)), np.abs(np.log(time_s / iteration_s[above]))
    )
    doubt: Floats = np.abs(np.log(time_s / other_s)) + _DOUBT * left_to_rise
    return doubt
