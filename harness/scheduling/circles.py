"""CASSINI's geometry for the jobs on one link: circles, score and rotations. Pure.

(NSDI'24, section 3 and Table 1.) A job's demand curve is wrapped around a circle whose perimeter
is its iteration time; the jobs of a link are compared on one unified circle whose perimeter is the
least common multiple of theirs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from traces.demand import DemandCurve

NUM_ANGLES = 72
"""Five degrees each, the precision that the paper recommends (section 5.7)."""

PERIOD_QUANTUM_S = 1e-3
MAX_PERIMETER_S = 60.0
MAX_WORK = 10**9
"""Sums over one angle that a search may take: some seconds."""

_ANGLES_AT_ONCE = 2**21
MAX_JOBS = 4
"""Exhaustive search compares NUM_ANGLES ** (jobs - 1) rotations."""


@dataclass(frozen=True)
class UnifiedCircle:
    """Demands of all jobs of a link on one circle.

    demand_bps: shape (jobs, angles). repeats: iterations of each job in one turn.
    period_rounding: how much longer the longest-stretched period became, as a share.
    """

    perimeter_s: float
    periods_s: tuple[float, ...]
    repeats: tuple[int, ...]
    demand_bps: NDArray[np.float64]
    period_rounding: float


@dataclass(frozen=True)
class Rotation:
    """The best rotation of a link's jobs. shifts_s: a delay for each, below its period."""

    score: float
    shifts_s: tuple[float, ...]
    circle: UnifiedCircle


def unified_circle(curves: Sequence[DemandCurve], num_angles: int = NUM_ANGLES) -> UnifiedCircle:
    """Put ``curves`` on one circle; periods that differ are rounded up to a common quantum.

    ``num_angles`` is a lower bound: several iterations on one circle each need as many, or one
    angle would be longer than a phase. Raises ValueError where the perimeter would exceed the cap.
    """
    if not curves or any(curve.period_s <= 0 for curve in curves):
        raise ValueError("a circle needs jobs with a period above zero")
    periods = [curve.period_s for curve in curves]
    if max(periods) - min(periods) <= 1e-9 * max(periods):
        repeats = [1] * len(curves)
        perimeter_s = max(periods)
    else:
        quanta = [math.ceil(period / PERIOD_QUANTUM_S - 1e-9) for period in periods]
        turn = math.lcm(*quanta)
        perimeter_s = turn * PERIOD_QUANTUM_S
        if perimeter_s > MAX_PERIMETER_S:
            raise ValueError(
                f"the iteration times {', '.join(f'{p:.3f} s' for p in periods)} meet again only "
                f"after {perimeter_s:.0f} s; "
                f"the unified circle is limited to {MAX_PERIMETER_S:.0f} s"
            )
        repeats = [turn // quantum for quantum in quanta]
    rounded = [perimeter_s / count for count in repeats]
    angles = num_angles * max(repeats)
    demand = np.stack(
        [
            curve.sample(angles, period, count)
            for curve, period, count in zip(curves, rounded, repeats, strict=True)
        ]
    )
    rounding = max(new / old - 1 for new, old in zip(rounded, periods, strict=True))
    return UnifiedCircle(perimeter_s, tuple(rounded), tuple(repeats), demand, rounding)


def compatibility_score(total_bps: NDArray[np.float64], capacity_bps: float) -> NDArray[np.float64]:
    """1 - mean(excess over capacity) / capacity, over the last axis (equation 2, normalised).

    1: fully compatible. It can be negative with three jobs or more.
    """
    excess = np.maximum(total_bps - capacity_bps, 0.0)
    return np.asarray(1.0 - excess.mean(axis=-1) / capacity_bps)


def score_at(circle: UnifiedCircle, shifts_s: Sequence[float], capacity_bps: float) -> float:
    """Score with the jobs delayed by ``shifts_s``, each to the nearest angle."""
    angle_s = circle.perimeter_s / circle.demand_bps.shape[1]
    turned = [
        np.roll(demand, round(shift_s / angle_s))
        for demand, shift_s in zip(circle.demand_bps, shifts_s, strict=True)
    ]
    return float(compatibility_score(np.sum(turned, axis=0), capacity_bps))


def best_rotation(curves: Sequence[DemandCurve], capacity_bps: float) -> Rotation:
    """Search all rotations; among equally good ones take the one that spreads the jobs most.

    The first job stays; job j turns over its own period only (equation 4: 0 <= delta <= 2 pi /
    r_j). Spread: the pairwise overlap of demands, softened over a tenth of the circle, is least;
    so jobs that fit with room to spare stand apart by as much as they can, and jitter finds slack
    on both sides.
    """
    if len(curves) > MAX_JOBS:
        raise ValueError(
            f"{len(curves)} jobs share a link; the exhaustive search handles at most {MAX_JOBS}"
        )
    circle = unified_circle(curves)
    num_angles = circle.demand_bps.shape[1]
    if len(curves) == 1:
        return Rotation(score_at(circle, (0.0,), capacity_bps), (0.0,), circle)
    # A job with few repeats has the most turns; the one that stays is best the one with most turns.
    order = np.argsort(circle.repeats, kind="stable")
    demand = circle.demand_bps[order]
    turns_of = [range(-(-num_angles // circle.repeats[job])) for job in order]
    work = math.prod(len(turns) for turns in turns_of[1:]) * num_angles
    if work > MAX_WORK:
        raise ValueError(
            f"{len(curves)} jobs on a circle of {num_angles} angles have more rotations than an "
            "exhaustive search can compare"
        )
    overlap = _soft_overlap(demand)
    best, best_turns = (-math.inf, -math.inf), (0,) * len(curves)
    for turns in itertools.product(range(1), *turns_of[1:-1]):
        base = np.sum([np.roll(demand[job], turn) for job, turn in enumerate(turns)], axis=0)
        scores = _scores_of_turns(base, demand[-1], len(turns_of[-1]), capacity_bps)
        for turn in np.flatnonzero(scores >= best[0]):
            turned = (*turns, int(turn))
            key = (float(scores[turn]), -round(_total_overlap(overlap, turned), 12))
            if key > best:
                best, best_turns = key, turned
    return Rotation(best[0], _shifts_s(circle, order, best_turns), circle)


def _shifts_s(
    circle: UnifiedCircle, order: NDArray[np.intp], turns: Sequence[int]
) -> tuple[float, ...]:
    """Delays from ``turns`` of the jobs in ``order``, turned back so that the first job stays."""
    by_job = dict(zip(order.tolist(), turns, strict=True))
    num_angles = circle.demand_bps.shape[1]
    angle_s = circle.perimeter_s / num_angles
    return tuple(
        ((by_job[job] - by_job[0]) % num_angles * angle_s) % period_s
        for job, period_s in enumerate(circle.periods_s)
    )


def _scores_of_turns(
    base: NDArray[np.float64], demand: NDArray[np.float64], turns: int, capacity_bps: float
) -> NDArray[np.float64]:
    """Scores of ``base`` plus ``demand`` delayed by 0, 1, ... angles, shape (turns,).

    The rotations are views of one doubled array, added a few at a time: memory stays small.
    """
    num_angles = base.size
    windows = sliding_window_view(np.concatenate((demand, demand)), num_angles)
    parts = []
    at_once = max(1, _ANGLES_AT_ONCE // num_angles)
    for first in range(0, turns, at_once):
        delays = np.arange(first, min(first + at_once, turns))
        parts.append(compatibility_score(base + windows[num_angles - delays], capacity_bps))
    # Rounded, so that rotations that differ only in floating-point noise count as equally good.
    return np.asarray(np.round(np.concatenate(parts), 12), dtype=np.float64)


def _soft_overlap(demand_bps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softened overlap of each pair by their difference in turns, shape (jobs, jobs, angles).

    The kernel falls off exponentially and never reaches zero, so that any two phases repel.
    """
    num_angles = demand_bps.shape[1]
    distance = np.minimum(np.arange(num_angles), num_angles - np.arange(num_angles))
    kernel = np.exp(-distance / (num_angles / 10))
    peak = max(float(demand_bps.max()), 1.0)
    spectrum = np.fft.rfft(demand_bps / peak, axis=1)
    # overlap[a, b, d] = sum over angles of softened a, delayed by d, times b
    product = spectrum[:, None, :] * np.conj(spectrum[None, :, :]) * np.fft.rfft(kernel)
    overlap = np.fft.irfft(np.conj(product), n=num_angles, axis=2)
    return np.asarray(overlap / num_angles**2)


def _total_overlap(overlap: NDArray[np.float64], turns: Sequence[int]) -> float:
    num_angles = overlap.shape[2]
    return float(
        sum(
            overlap[a, b, (turns[a] - turns[b]) % num_angles]
            for a in range(len(turns))
            for b in range(a)
        )
    )
