"""The time of an iteration with less than full memory, without measuring there. Pure.

(Synergy, OSDI'22: optimistic profiling.) A cache that never evicts (MinIO, VLDB 2021) has the same
share of hits in every epoch, the share of the dataset that it holds; the rest comes from storage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from profiler.sensitivity.cpu_curve import CpuCurve, Floats
from profiler.sensitivity.measured_point import MeasuredPoint

_OVERLAPS = np.linspace(1.0, 0.0, 101)
"""From what the paper takes for granted down to none, so that without evidence it is the first."""


@dataclass(frozen=True, eq=False)
class Fetching:
    """Where a job's samples come from.

    dataset_bytes: of all samples as they lie in storage. iteration_bytes: of those of an iteration.
    storage_bytes_per_s: at which storage gives samples of these sizes, in random order, to as many
        readers as the job has; (cpus) of the curve where their number follows the CPUs.
    memory_bytes_per_s: at which they are read from the cache.
    overlap: of the shorter of preparing and fetching, the share that runs while the other does. The
        paper takes 1: the slower stage is the time. With workers that fetch a sample and then
        prepare it, and no more of them than CPUs, it is 0.
    miss_cpu_s: CPU seconds that an iteration takes more where storage gives all of its samples than
        where the cache does: for reading, and as workers are interrupted. The paper has none.
    full_cache_bytes: of the cache that the curve was measured with.
    """

    dataset_bytes: float
    iteration_bytes: float
    storage_bytes_per_s: float | Floats
    memory_bytes_per_s: float = math.inf
    overlap: float = 1.0
    miss_cpu_s: float = 0.0
    full_cache_bytes: float = math.inf

    def hit_share(self, cache_bytes: ArrayLike) -> Floats:
        """Of all samples, those that a cache holds once it is full; without a dataset, all."""
        cache = np.asarray(cache_bytes, dtype=np.float64)
        if not self.dataset_bytes:
            return np.ones_like(cache)
        held: Floats = np.minimum(1.0, cache / self.dataset_bytes)
        return held

    def lost_share(self, cache_bytes: ArrayLike) -> Floats:
        """Of all samples, those that a cache misses and that of the curve hits."""
        full = self.hit_share(self.full_cache_bytes)
        lost: Floats = np.maximum(full - self.hit_share(cache_bytes), 0.0)
        return lost


def optimistic_matrix(curve: CpuCurve, cache_bytes: ArrayLike, fetching: Fetching) -> Floats:
    """Seconds of an iteration, (cpus of ``curve``, cache_bytes); of the job, as all of Fetching.

    It is the slower of what was measured at full memory and of fetching, which takes hits over the
    memory's rate and misses over storage's (the authors' profiler: T_store(C) = C / memory rate +
    (D - C) / storage rate an epoch). Where ``overlap`` is below 1, preparing and fetching wait for
    each other, but the GPU for no more than both. Preparing has the CPU time of misses on top.
    """
    cache = np.asarray(cache_bytes, dtype=np.float64)
    rates = np.broadcast_to(fetching.storage_bytes_per_s, curve.cpus.shape)
    miss_cpu_s = fetching.miss_cpu_s * fetching.lost_share(cache)
    return _iteration_s(
        curve.iteration_s[:, None],
        _prepare_s(curve)[:, None] + miss_cpu_s[None, :] / curve.cpus[:, None],
        cache[None, :],
        fetching,
        rates[:, None],
    )


def with_overlap(curve: CpuCurve, fetching: Fetching, points: Sequence[MeasuredPoint]) -> Fetching:
    """``fetching`` with the overlap that is nearest to what was measured with less memory.

    points: at numbers of CPUs of the curve; of those without a time nothing is learnt. Without any,
    it stays as it is. Least squares of relative errors.
    """
    measured = [point for point in points if point.is_measured]
    if not measured:
        return fetching
    times = np.array([point.iteration_s for point in measured])

    def squares(overlap: float) -> float:
        predicted = [_at(curve, replace(fetching, overlap=overlap), point) for point in measured]
        return float((np.log(np.array(predicted) / times) ** 2).sum())

    return replace(fetching, overlap=min(_OVERLAPS.tolist(), key=squares))


@dataclass(frozen=True)
class Checked:
    """How far modelled throughput is from measured throughput, as a share of it.

    by_point: each point that was measured, and the error there, above 0 where the model is faster.
    median, worst: of their absolute values.
    """

    by_point: tuple[tuple[MeasuredPoint, float], ...]

    @property
    def median(self) -> float:
        """ValueError where there is no point."""
        if not self.by_point:
            raise ValueError("nothing was checked")
        return float(np.median([abs(error) for _, error in self.by_point]))

    @property
    def worst(self) -> float:
        """ValueError where there is no point."""
        return max(abs(error) for _, error in self.by_point)


def check(curve: CpuCurve, fetching: Fetching, points: Sequence[MeasuredPoint]) -> Checked:
    """The model against points at CPUs of the curve; those without a time are left out."""
    return Checked(
        tuple(
            (point, point.iteration_s / _at(curve, fetching, point) - 1)
            for point in points
            if point.is_measured
        )
    )


def _at(curve: CpuCurve, fetching: Fetching, point: MeasuredPoint) -> float:
    rows = np.flatnonzero(curve.cpus == point.allocation.cpus)
    if not len(rows):
        raise ValueError(f"{point.allocation.cpus:g} CPUs are not on the axis")
    matrix = optimistic_matrix(curve, [point.allocation.cache_bytes], fetching)
    return float(matrix[rows[0], 0])


def _iteration_s(
    full_s: Floats, prepare_s: Floats, cache_bytes: Floats, fetching: Fetching, storage_rate: Floats
) -> Floats:
    held = fetching.hit_share(cache_bytes)
    missed_s = fetching.iteration_bytes * (1 - held) / storage_rate
    fetch_s = missed_s + fetching.iteration_bytes * held / fetching.memory_bytes_per_s
    # What the curve was measured with is in full_s and prepare_s: reading from the cache, and from
    # storage what it did not hold.
    lost_bytes = fetching.iteration_bytes * fetching.lost_share(cache_bytes)
    added_s = np.maximum(lost_bytes / storage_rate - lost_bytes / fetching.memory_bytes_per_s, 0.0)
    waiting_s = (1 - fetching.overlap) * np.minimum(prepare_s, added_s)
    slower_s: Floats = np.maximum(full_s, np.maximum(prepare_s, fetch_s) + waiting_s)
    return slower_s


def _prepare_s(curve: CpuCurve) -> Floats:
    """What preparing takes of the iterations of ``curve``; never more than they do.

    From the knee on the GPU hides it: there its CPU seconds are those of the point below the knee.
    Where even the fewest CPUs suffice they are not known, and taken as half of what would show, as
    traces.stage_reconstruction does. Where the curve rises to its end, nothing is hidden.
    """
    knee = curve.knee
    cpu_s = curve.cpus * curve.iteration_s
    hidden = knee < len(curve.cpus) - 1 or len(curve.cpus) == 1
    if not hidden:
        return curve.iteration_s
    last_cpu_s = cpu_s[knee - 1] if knee else cpu_s[0] / 2
    prepare_s = curve.iteration_s.copy()
    prepare_s[knee:] = np.minimum(prepare_s[knee:], last_cpu_s / curve.cpus[knee:])
    return prepare_s
