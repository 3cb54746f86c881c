"""What the memory model needs to know of this machine: how fast storage and memory give items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from profiler.allocation import Allocation
from profiler.limits.memory_speed import MemorySpeed, measure_memory
from profiler.limits.storage_speed import StorageSpeed, measure_storage
from profiler.loading.stored_items import StoredItems
from profiler.loading.workers import workers_for
from profiler.measuring.stall_rates import cpu_s_per_iteration
from profiler.sensitivity.cpu_curve import CpuCurve, Floats
from profiler.sensitivity.measured_point import MeasuredPoint
from profiler.sensitivity.memory_model import Fetching, optimistic_matrix

_STORAGE_S = 1.0
_MEMORY_S = 0.5
_SURE = 0.02
"""Where the overlap of preparing and fetching changes no time by more, it need not be known."""


@dataclass(frozen=True)
class MachineSpeeds:
    """storage: with one number of readers or several, ascending. cost_s: of measuring both."""

    storage: tuple[StorageSpeed, ...]
    memory: MemorySpeed
    cost_s: float


def measure_speeds(items: StoredItems, cpus: Sequence[float], seed: int) -> MachineSpeeds:
    """With as few readers as the fewest ``cpus`` have, with as many as the most, and their mean.

    To be called while the training stands still: both use the storage.
    """
    least, most = workers_for(cpus[0]), workers_for(cpus[-1])
    counts = sorted({least, (least + most) // 2, most})
    storage = [measure_storage(items, readers, _STORAGE_S, seed) for readers in counts]
    item_bytes = max(items.total_bytes // len(items), 1)
    memory = measure_memory(most, item_bytes, _MEMORY_S, seed)
    return MachineSpeeds(tuple(storage), memory, len(counts) * _STORAGE_S + _MEMORY_S)


@dataclass(frozen=True)
class FetchingSource:
    """Where the numbers of a Fetching come from. speeds: None where storage cannot be measured
    apart, as what a script reads is not known here."""

    dataset_bytes: float
    iteration_bytes: float
    speeds: MachineSpeeds | None

    def fetching(self, cpus: Floats) -> Fetching | None:
        """Of a job with as many readers as loaders have workers, at each of ``cpus``."""
        if self.speeds is None:
            return None
        rates = np.interp(
            [workers_for(each) for each in cpus.tolist()],
            [speed.readers for speed in self.speeds.storage],
            [speed.bytes_per_s for speed in self.speeds.storage],
        )
        return Fetching(
            self.dataset_bytes, self.iteration_bytes, rates, self.speeds.memory.bytes_per_s
        )

    def seen(self, cold: MeasuredPoint | None) -> Fetching:
        """From training with the smallest cache, where it was measured.

        Its time is the slower of fetching and of all else. Taken as that of fetching it gives the
        right times with that cache either way; with other CPUs where readers do not limit storage.
        """
        if cold is None or not cold.is_measured:
            return Fetching(self.dataset_bytes, self.iteration_bytes, math.inf)
        held = min(1.0, cold.allocation.cache_bytes / self.dataset_bytes)
        rate = self.iteration_bytes * (1 - held) / cold.iteration_s
        return Fetching(self.dataset_bytes, self.iteration_bytes, rate)


def miss_cpu_s(fetching: Fetching, full: MeasuredPoint, less: MeasuredPoint) -> float:
    """``Fetching.miss_cpu_s``, by the CPU time that two points with the same CPUs took.

    full: with all of the cache. less: with a smaller one. 0 where the kernel did not tell.
    """
    with_full, with_less = cpu_s_per_iteration(full), cpu_s_per_iteration(less)
    lost = float(fetching.lost_share(less.allocation.cache_bytes))
    if with_full is None or with_less is None or not lost or not less.is_measured:
        return 0.0
    return max(with_less - with_full, 0.0) / lost


def telling_place(
    curve: CpuCurve, cache_bytes: Sequence[int], fetching: Fetching
) -> Allocation | None:
    """Where a measured point would tell most about the overlap of preparing and fetching; None
    where that makes no difference. Of the numbers of CPUs, one that the curve has measured."""
    cache = np.array(cache_bytes, dtype=np.float64)
    overlapped, in_turn = (
        optimistic_matrix(curve, cache, replace(fetching, overlap=overlap)) for overlap in (1, 0)
    )
    doubt = np.where(curve.measured[:, None], in_turn / overlapped - 1, 0.0)
    if doubt.max() <= _SURE:
        return None
    row, column = np.unravel_index(int(doubt.argmax()), doubt.shape)
    return Allocation(float(curve.cpus[row]), cache_bytes[int(column)])
