"""Demand curves on circles of 72 ms, one of whose steps is a millisecond, and an oracle."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from harness.scheduling.cassini.precision import Precision
from traces.demand import DemandCurve, Phase

LINE = 10.0
NUM_ANGLES = Precision().num_angles
ANGLE_S = 0.001
PERIOD_S = NUM_ANGLES * ANGLE_S


def curve(
    *phases: tuple[float, float], period_s: float = PERIOD_S, rate: float = LINE
) -> DemandCurve:
    return DemandCurve(period_s, tuple(Phase(start, end, rate) for start, end in phases))


def angles(*phases: tuple[int, int], rate: float = LINE, period: int = NUM_ANGLES) -> DemandCurve:
    """Phases from angle to angle of a circle of ``period`` ms."""
    in_s = ((a * ANGLE_S, b * ANGLE_S) for a, b in phases)
    return curve(*in_s, rate=rate, period_s=period * ANGLE_S)


ALWAYS = angles((0, NUM_ANGLES))


@st.composite
def aligned_curves(draw: st.DrawFn, period: int = NUM_ANGLES) -> DemandCurve:
    """One phase to three whose edges are angles, so that slices lose nothing."""
    edges = draw(st.lists(st.integers(0, period), min_size=2, max_size=6, unique=True))
    edges = sorted(edges)[: len(edges) // 2 * 2]
    rate = draw(st.sampled_from([LINE / 4, LINE / 2, LINE]))
    return angles(*zip(edges[::2], edges[1::2], strict=True), rate=rate, period=period)


def score_in_time(
    curves: Sequence[DemandCurve],
    shifts_s: Sequence[float],
    perimeter_s: float,
    step_s: float = ANGLE_S,
) -> float:
    """The definition, a second time: job j at time t demands what it has at t - shift."""

    def rate(each: DemandCurve, moment_s: float) -> float:
        phase_s = moment_s % each.period_s
        return sum(p.rate_bps for p in each.phases if p.start_s <= phase_s < p.end_s)

    steps = round(perimeter_s / step_s)
    excess = 0.0
    for step in range(steps):
        moment_s = (step + 0.5) * step_s
        total = sum(rate(c, moment_s - shift) for c, shift in zip(curves, shifts_s, strict=True))
        excess += max(total - LINE, 0.0)
    return 1.0 - excess / steps / LINE
