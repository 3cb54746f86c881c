"""The score of a link's jobs, and the rotation at which it is best (section 3, Table 1). Pure."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.job_table import Floats, Ints
from harness.scheduling.cassini.circle import UnifiedCircle
from harness.scheduling.cassini.periods import IncomparableError, within_period
from harness.scheduling.cassini.search import CAPACITY, descend, exact

Spectrum = NDArray[np.complex128]

EXACT_JOBS = 3
"""Jobs on a link up to which all rotations are compared. Four take up to 72 times as long."""

_EXACT_WORK = 3 * 10**8
"""Additions that comparing all rotations may take, some tenths of a second."""

_DESCENT_WORK = 3 * 10**8
"""The same for a turn of every job of the descent, of which there are some dozens."""

_BEGINNINGS = 16
"""Of descents on a link. On a long circle fewer: there the jobs pass each other so often that
little depends on their rotation."""

_WORK_OF_BEGINNINGS = 2 * 10**6
"""Additions that their first turns of every job may take together, some tenths of a millisecond."""

_FEW_DELAYS = 8
"""Jobs that have no more distinct delays against each other than this pass each other at all
distances in any case: there is nothing to spread."""

_SPREAD = 0.1  # of the circle, over which demands are softened


@dataclass(frozen=True)
class Rotation:
    """The best rotation of a link's jobs that was found.

    shifts_s: a delay for each job, below its period; the first job stays. exact: all rotations were
    compared; otherwise coordinate descent found it, and there may be a better one.
    """

    score: float
    shifts_s: tuple[float, ...]
    circle: UnifiedCircle
    exact: bool


def compatibility_score(total_bps: Floats, capacity_bps: float) -> Floats:
    """1 - mean(excess over capacity) / capacity, over the last axis (equation 2, normalised).

    1: fully compatible. It can be negative with three jobs or more.
    """
    excess = np.maximum(total_bps - capacity_bps, 0.0)
    return np.asarray(1.0 - excess.mean(axis=-1) / capacity_bps)


def score_at(circle: UnifiedCircle, shifts_s: Sequence[float]) -> float:
    """Score with the jobs delayed by ``shifts_s``.

    Only delays against each other count: each is taken against the first job's, to the nearest
    slice, so that a delay common to all changes nothing.
    """
    total = np.zeros(circle.num_slices)
    for demand, shift_s in zip(circle.demand_bps, shifts_s, strict=True):
        delay = round((shift_s - shifts_s[0]) / circle.slice_s) % circle.num_slices
        total[delay:] += demand[: circle.num_slices - delay]
        total[:delay] += demand[circle.num_slices - delay :]
    return float(compatibility_score(total, circle.capacity_bps))


def best_rotation(circle: UnifiedCircle, seed: int = 0) -> Rotation:
    """The best rotation: of all of them for few jobs, by coordinate descent for more.

    Among equally good ones it is the one that spreads the jobs most: their pairwise overlap,
    softened over a tenth of the circle, is least. So jobs that fit with room to spare stand apart
    by as much as they can, and jitter finds slack on both sides.
    Raises IncomparableError where even a descent would take too long.
    """
    if len(circle.repeats) == 1:
        return Rotation(1.0, (0.0,), circle, exact=True)
    if len(circle.repeats) <= EXACT_JOBS and exact_work(circle) <= _EXACT_WORK:
        return exact_rotation(circle)
    return descent_rotation(circle, seed)


def exact_rotation(circle: UnifiedCircle) -> Rotation:
    """The best of all rotations of two jobs or more."""
    order = _most_repeats_last(circle)
    ranges = np.array([1, *_distinct_delays(circle, order)], dtype=np.int64)
    demand = circle.demand_bps[order] / circle.capacity_bps
    if ranges.max() > _FEW_DELAYS:
        overlap = _overlap(circle, demand)
    else:
        overlap = np.zeros((len(order), len(order), 2 * circle.num_steps))
    excess, steps = exact(_whole(demand), circle.slices_a_step, ranges, overlap)
    in_order_of_jobs = np.empty_like(steps)
    in_order_of_jobs[order] = steps
    return _rotation(circle, excess, in_order_of_jobs, exact=True)


def exact_work(circle: UnifiedCircle) -> int:
    """Additions that :func:`exact_rotation` takes where nothing can be cut off."""
    return math.prod(_distinct_delays(circle, _most_repeats_last(circle))) * circle.num_slices


def descent_rotation(circle: UnifiedCircle, seed: int = 0) -> Rotation:
    """The best of several coordinate descents, the same for the same ``seed``.

    Half of them begin with an empty circle that the jobs enter in random order, each where it is
    best, the other half at random rotations. Raises IncomparableError where it would take too long.
    """
    jobs = len(circle.repeats)
    ranges = np.array([-(-circle.num_steps // count) for count in circle.repeats], dtype=np.int64)
    work = int(ranges.sum()) * circle.num_slices
    if work > _DESCENT_WORK:
        raise IncomparableError(
            f"{jobs} jobs on a circle of {circle.perimeter_s:.3g} s, in which one of them iterates "
            f"{max(circle.repeats)} times, have more rotations than can be compared"
        )
    rng = np.random.default_rng(seed)
    beginnings = min(max(_WORK_OF_BEGINNINGS // work, 1), _BEGINNINGS)
    orders = rng.permuted(np.tile(np.arange(jobs), (beginnings, 1)), axis=1)
    starts = rng.integers(0, ranges, (beginnings, jobs))
    starts[: (beginnings + 1) // 2] = -1
    demand = circle.demand_bps / circle.capacity_bps
    overlap = _overlap(circle, demand)
    excess, steps = descend(_whole(demand), circle.slices_a_step, ranges, overlap, orders, starts)
    return _rotation(circle, excess, steps, exact=False)


def _rotation(circle: UnifiedCircle, excess: int, steps: Ints, *, exact: bool) -> Rotation:
    """The rotation by ``steps``, turned back so that the first job stays."""
    step_s = circle.perimeter_s / circle.num_steps
    delays_s = (steps - steps[0]) % circle.num_steps * step_s
    shifts_s = tuple(
        within_period(float(delay_s), period_s)
        for delay_s, period_s in zip(delays_s, circle.periods_s, strict=True)
    )
    score = 1.0 - excess / (CAPACITY * circle.num_slices)
    return Rotation(score, shifts_s, circle, exact)


def _most_repeats_last(circle: UnifiedCircle) -> list[int]:
    return sorted(range(len(circle.repeats)), key=circle.repeats.__getitem__)


def _distinct_delays(circle: UnifiedCircle, order: Sequence[int]) -> list[int]:
    """How many delays of each job but the first differ, the jobs before it being where they are.

    A delay by the job's own period changes nothing, nor does one by what the periods of the jobs
    before it have in common; so neither does one by the greatest common divisor of the two, which
    is the perimeter / lcm(repeats, gcd(repeats of those before)). Equation 4 has the first only.
    """
    repeats = [circle.repeats[job] for job in order]
    before = itertools.accumulate(repeats, math.gcd)
    return [
        -(-circle.num_steps // math.lcm(count, common))
        for count, common in zip(repeats[1:], before, strict=False)
    ]


def _whole(demand: Floats) -> Ints:
    """``demand`` as the search takes it. Rounded down: what fits but for noise fits."""
    whole = np.floor(demand * CAPACITY).astype(np.int64)
    return np.concatenate((whole, whole), axis=1)


def _overlap(circle: UnifiedCircle, demand: Floats) -> Floats:
    """Softened overlap of each job with each before it, by its delay against that one's.

    demand: (jobs, slices). Shape (jobs, jobs, 2 x steps). The kernel falls off exponentially and
    never reaches zero, so that any two phases repel.
    """
    jobs, slices = demand.shape
    steps = circle.num_steps
    spectrum = np.fft.rfft(demand, axis=1)
    softened = spectrum * _softening(slices)
    overlap = np.zeros((jobs, jobs, 2 * steps))
    for job in range(1, jobs):
        # of a job a with another b: sum over slices of softened b times a, delayed by d
        delayed = np.fft.irfft(softened[:job] * np.conj(spectrum[job]), n=slices, axis=1)
        overlap[job, :job, :steps] = delayed[:, :: circle.slices_a_step]
    overlap[:, :, steps:] = overlap[:, :, :steps]
    return overlap


@functools.lru_cache(maxsize=64)
def _softening(slices: int) -> Spectrum:
    """Of a circle of ``slices``, shape (slices // 2 + 1,), for overlaps of at most 1."""
    distance = np.minimum(np.arange(slices), slices - np.arange(slices))
    return np.asarray(np.fft.rfft(np.exp(-distance / (slices * _SPREAD))) / slices**2)
