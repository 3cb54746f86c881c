"""Searching the rotations of a circle: exactly, and by coordinate descent. Compiled loops.

Demands are whole numbers, for sums of those are exact and take a machine an eighth of the time:
CAPACITY is all that the link has. A row holds its circle twice, shape (jobs, 2 x slices), so that a
rotated one is a part of it. A rotation is (jobs,) steps of delay; a step is some slices. Among
rotations whose excess is the same but for rounding, the one with the least overlap wins. overlap:
shape (jobs, jobs, 2 x steps), of a job with each before it, by its delay against that one's plus
``steps``; not negative.
"""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats, Ints
from traces.compiled import compiled

CAPACITY = 2**40
"""At most 2**22 slices with two jobs, or as many fewer as there are more: sums stay below 2**63."""

_MOST_EXCESS = 2**62
_EXCESS_NOISE = 2**10  # a slice, of CAPACITY
_OVERLAP_NOISE = 1e-12
_WORTH_A_SWEEP = 2**24  # a slice, of CAPACITY: a score of 1.5e-5
_BLOCK = 256
_MOST_SWEEPS = 100


@compiled
def _excess(base: Ints, doubled: Ints, start: int, limit: int) -> int:
    """Sum over all slices of what is above the capacity when ``doubled`` from ``start`` is added.

    Stops early, with a number above it, once ``limit`` is passed.
    """
    total = 0
    for first in range(0, len(base), _BLOCK):
        block = base[first : first + _BLOCK]
        added = doubled[start + first : start + first + len(block)]
        for index in range(len(block)):
            total += max(block[index] + added[index] - CAPACITY, 0)
        if total > limit:
            break
    return total


@compiled
def _overlap_with(job: int, rotation: Ints, overlap: Floats, others: int) -> float:
    """Overlap of ``job`` with the first ``others`` jobs, as far as they are on the circle."""
    total = 0.0
    steps = overlap.shape[2] // 2
    for other in range(others):
        if rotation[other] < 0:
            continue
        if other < job:
            total += overlap[job, other, steps + rotation[job] - rotation[other]]
        elif other > job:
            total += overlap[other, job, steps + rotation[other] - rotation[job]]
    return total


@compiled
def exact(doubled: Ints, slices_a_step: int, ranges: Ints, overlap: Floats) -> tuple[int, Ints]:
    """(excess, rotation) that no other is better than, of at least two jobs.

    Depth first over the delays of one job after the other, the first staying; ranges: (jobs,)
    delays of each that are tried. Excess and overlap only grow as jobs are added, so what is
    already worse than the best so far is cut off.
    """
    jobs, slices = doubled.shape[0], doubled.shape[1] // 2
    noise = _EXCESS_NOISE * slices
    nothing = np.zeros(slices, dtype=np.int64)
    partial = np.zeros((jobs, slices), dtype=np.int64)
    partial[0] = doubled[0, :slices]
    partial_overlap = np.zeros(jobs)
    best_excess, best_overlap = _MOST_EXCESS, np.inf
    best, rotation = np.zeros(jobs, dtype=np.int64), np.zeros(jobs, dtype=np.int64)
    job = 1
    rotation[job] = -1
    while job > 0:
        rotation[job] += 1
        if rotation[job] == ranges[job]:
            job -= 1
            continue
        overlapping = partial_overlap[job - 1] + _overlap_with(job, rotation, overlap, job)
        limit = best_excess + noise
        if overlapping >= best_overlap - _OVERLAP_NOISE:
            limit = best_excess - noise  # it would have to win by its excess
            if limit < 0:
                continue
        start = slices - rotation[job] * slices_a_step
        if job < jobs - 1:
            partial[job] = partial[job - 1] + doubled[job, start : start + slices]
            if _excess(partial[job], nothing, 0, limit) <= limit:
                partial_overlap[job] = overlapping
                job += 1
                rotation[job] = -1
            continue
        excess = _excess(partial[job - 1], doubled[job], start, limit)
        if excess <= limit:
            best_excess, best_overlap = min(best_excess, excess), overlapping
            best[:] = rotation
    return best_excess, best


@compiled
def descend(
    doubled: Ints, slices_a_step: int, ranges: Ints, overlap: Floats, orders: Ints, starts: Ints
) -> tuple[int, Ints]:
    """(excess, rotation), the best that coordinate descent finds from several beginnings.

    One job after the other is turned to where it is best among the others, until nothing gets
    better. orders: shape (beginnings, jobs), the order of the jobs. starts: the same shape, their
    first rotations; -1 for a job that is not on the circle before its first turn.
    """
    jobs, slices = doubled.shape[0], doubled.shape[1] // 2
    noise = _EXCESS_NOISE * slices
    best_excess, best_overlap = _MOST_EXCESS, np.inf
    best = np.zeros(jobs, dtype=np.int64)
    for beginning in range(starts.shape[0]):
        rotation = starts[beginning].copy()
        total = np.zeros(slices, dtype=np.int64)
        for job in range(jobs):
            if rotation[job] >= 0:
                start = slices - rotation[job] * slices_a_step
                total += doubled[job, start : start + slices]
        excess, overlapping = _MOST_EXCESS, np.inf
        for _ in range(_MOST_SWEEPS):
            before, overlapping_before = excess, overlapping
            for job in orders[beginning]:
                if rotation[job] >= 0:
                    start = slices - rotation[job] * slices_a_step
                    total -= doubled[job, start : start + slices]
                excess = _turn(job, rotation, total, doubled, slices_a_step, ranges, overlap)
                start = slices - rotation[job] * slices_a_step
                total += doubled[job, start : start + slices]
            overlapping = 0.0
            for job in range(jobs):
                overlapping += _overlap_with(job, rotation, overlap, job)
            spread = overlapping >= overlapping_before - _OVERLAP_NOISE
            if excess >= before - _WORTH_A_SWEEP * slices and (spread or excess > noise):
                break
        if excess < best_excess - noise or (
            excess <= best_excess + noise and overlapping < best_overlap - _OVERLAP_NOISE
        ):
            best_excess, best_overlap = min(best_excess, excess), overlapping
            best[:] = rotation
    return best_excess, best


@compiled
def _turn(
    job: int,
    rotation: Ints,
    others: Ints,
    doubled: Ints,
    slices_a_step: int,
    ranges: Ints,
    overlap: Floats,
) -> int:
    """Turn ``job`` to where it is best, given the sum of the ``others``; the excess there."""
    slices = len(others)
    noise = _EXCESS_NOISE * slices
    least_excess, least_overlap = _MOST_EXCESS, np.inf
    chosen = 0
    for delay in range(ranges[job]):
        rotation[job] = delay
        overlapping = _overlap_with(job, rotation, overlap, len(rotation))
        limit = least_excess + noise
        if overlapping >= least_overlap - _OVERLAP_NOISE:
            limit = least_excess - noise  # it would have to win by its excess
            if limit < 0:
                continue
        excess = _excess(others, doubled[job], slices - delay * slices_a_step, limit)
        if excess <= limit:
            least_excess, least_overlap = min(least_excess, excess), overlapping
            chosen = delay
    rotation[job] = chosen
    return least_excess
