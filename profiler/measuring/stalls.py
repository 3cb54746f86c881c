"""Measures which stage limits a training: ingestion, preparation or fetching."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from netshaper.run_state import new_run_id
from profiler.allocation import Allocation
from profiler.limits.point_limits import PointLimits, limits_for_training
from profiler.limits.usable import usable_memory_bytes
from profiler.loading.stored_items import StoredItems
from profiler.measuring.fetching import MachineSpeeds, measure_speeds
from profiler.measuring.memory_points import cache_sizes
from profiler.measuring.notes import notes_on
from profiler.measuring.point_log import Show
from profiler.measuring.point_meter import PointMeter
from profiler.measuring.sensitivity import LOG
from profiler.measuring.stall_rates import StageRates, StallPoints, StorageRates, stage_rates
from profiler.measuring.training import Patience, Training, command_of
from profiler.sensitivity.measured_point import MeasuredPoint
from profiler.training.protocol import Ready, Source

_SEED = 0
_POINTS = 3


@dataclass(frozen=True)
class StallResult:
    """speeds: of storage and memory, where they could be measured apart. gpu_uuid: None on CPUs."""

    model: str
    ready: Ready
    cpus: float
    points: StallPoints
    found: StageRates
    speeds: MachineSpeeds | None
    notes: tuple[str, ...]
    gpu_uuid: str | None = None


def profile_stalls(
    training: Training,
    model: str,
    cpus: float,
    items: StoredItems | None,
    patience: Patience,
    directory: Path,
    show: Show,
    stop: Callable[[], bool],
) -> StallResult:
    """Measure with ``cpus``. Parameters and errors as of ``profile_sensitivity``.

    StoppedError also where some of it is known: of two points nothing follows.
    """
    with (
        PointLimits(new_run_id(), limits_for_training()) as limits,
        PointMeter(command_of(training), limits, patience, directory / LOG, stop) as meter,
    ):
        ready = meter.begin()
        speeds = None if items is None else measure_speeds(items, (cpus,), _SEED)
        taken: list[MeasuredPoint] = []

        def measure(what: str, cache_bytes: int, source: Source) -> MeasuredPoint:
            mean_s = sum(point.cost_s for point in taken) / max(len(taken), 1)
            show(what, len(taken), _POINTS, mean_s * (_POINTS - len(taken)))
            point, _ = meter.measure(Allocation(cpus, cache_bytes), "grid", source)
            if not point.is_measured:
                raise meter.failure(f"{what}: {point.reason}")
            taken.append(point)
            return point

        follows_cache = ready.dataset_bytes is not None and "memory" not in ready.not_followed
        full_bytes = 0
        if ready.dataset_bytes is not None and follows_cache:
            full_bytes = cache_sizes(ready.dataset_bytes, None, usable_memory_bytes())[-1]
        points = StallPoints(
            synthetic=measure("one batch over and over", 0, "synthetic"),
            cached=measure("the dataset cached", full_bytes, "stored"),
            cold=measure("nothing cached", 0, "stored") if follows_cache else None,
        )
        starts, gpu_uuid = meter.starts, meter.gpu_uuid
    found = stage_rates(ready.batch_size or 1, cpus, points, _apart(ready, speeds))
    notes = notes_on(ready, taken, speeds, starts)
    if ready.dataset_bytes is not None and full_bytes < ready.dataset_bytes and follows_cache:
        share = full_bytes / ready.dataset_bytes
        notes = (*notes, f"no more than {share:.0%} of the dataset fit into memory")
    return StallResult(model, ready, cpus, points, found, speeds, notes, gpu_uuid)


def _apart(ready: Ready, speeds: MachineSpeeds | None) -> StorageRates | None:
    if speeds is None or not (ready.dataset_bytes and ready.dataset_items):
        return None
    sample_bytes = ready.dataset_bytes / ready.dataset_items
    return StorageRates(speeds.storage[-1].items_per_s, speeds.memory.bytes_per_s / sample_bytes)
