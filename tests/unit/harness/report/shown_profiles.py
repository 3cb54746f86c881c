"""A sensitivity and stalls as the page shows them: measured on a GPU, with all there is to say."""

from __future__ import annotations

from profiler.allocation import Allocation
from profiler.limits.memory_speed import MemorySpeed
from profiler.limits.storage_speed import StorageSpeed
from profiler.measuring.fetching import FetchingSource, MachineSpeeds
from profiler.measuring.notes import notes_on
from profiler.measuring.sensitivity_result import Findings, SensitivityResult, conclude
from profiler.measuring.stall_rates import StallPoints, StorageRates, stage_rates
from profiler.measuring.stalls import StallResult
from profiler.measuring.walk import PointGrid, speed_model
from profiler.sensitivity.measured_point import MeasuredPoint, Purpose
from profiler.sensitivity.profile import Subject
from profiler.training.protocol import Ready

GPU_UUID = "GPU-0f3b1c52-9d7e-4c1a-8a55-2b1d0c9e7f60"
_DATASET_ITEMS, _ITEM_BYTES, _BATCH = 10_000, 40_000, 64
_DATASET_BYTES = _DATASET_ITEMS * _ITEM_BYTES
_COMPUTE_S, _CPU_S, _STORAGE_BYTES_PER_S = 0.1, 0.5, 12e6
_GRID = PointGrid((1.0, 2.0, 4.0, 6.0, 8.0), (0, _DATASET_BYTES // 2, _DATASET_BYTES))


def _iteration_s(allocation: Allocation) -> float:
    missed_bytes = _BATCH * _ITEM_BYTES * (1 - allocation.cache_bytes / _DATASET_BYTES)
    return max(_COMPUTE_S, _CPU_S / allocation.cpus, missed_bytes / _STORAGE_BYTES_PER_S)


def _point(allocation: Allocation, purpose: Purpose) -> MeasuredPoint:
    iteration_s = _iteration_s(allocation)
    gpu = {"utilisation": {"mean": _COMPUTE_S / iteration_s}, "power_w": {"mean": 412.5}}
    return MeasuredPoint(
        allocation,
        purpose,
        iteration_s=iteration_s,
        interval_s=(iteration_s * 0.99, iteration_s * 1.01),
        iterations=200,
        warmup_iterations=12,
        wait_s=iteration_s - _COMPUTE_S,
        copy_s=0.002,
        compute_s=_COMPUTE_S - 0.002,
        hits=6000,
        misses=4000,
        fetched_bytes=4000 * _ITEM_BYTES,
        evidence={
            "enforced": {"cpus": allocation.cpus, "cpu_list": "0-7", "cpus_by": "cgroup"},
            "workers": 5,
            "cached_bytes": allocation.cache_bytes,
            "point": {"elapsed_s": 20.0, "cpu": {"used_s": 20.0 * allocation.cpus}, "gpu": gpu},
        },
        steady=True,
        precise=purpose != "memory",
        cost_s=20.0,
    )


def _ready(model: str) -> Ready:
    return Ready(
        model=model,
        kind="image",
        batch_size=_BATCH,
        device="cuda:0",
        device_name="NVIDIA H200",
        loader="torch",
        dataset_items=_DATASET_ITEMS,
        dataset_bytes=_DATASET_BYTES,
        skipped={"empty": 2},
        options={"precision": "bf16", "channels_last": True, "compile": True},
        versions={"python": "3.11.9", "torch": "2.14.1"},
    )


def _speeds(from_storage_share: float) -> MachineSpeeds:
    rate = _STORAGE_BYTES_PER_S
    storage = tuple(
        StorageSpeed(
            rate, (0.98 * rate, 1.02 * rate), rate / _ITEM_BYTES, readers, 300, 300,
            from_storage_share,
        )
        for readers in (2, 5, 9)
    )  # fmt: skip
    return MachineSpeeds(storage, MemorySpeed(9e9, (8.8e9, 9.2e9), 9, _ITEM_BYTES, 2**29), 3.5)


def rich_sensitivity(
    model: str = "res50", *, from_storage_share: float = 1.02, with_failure: bool = True
) -> SensitivityResult:
    """Few points measured, two checked, one of these failed, the first one repeated."""
    points: list[MeasuredPoint] = []

    def measure(allocation: Allocation, purpose: Purpose) -> MeasuredPoint:
        points.append(_point(allocation, purpose))
        return points[-1]

    speeds = _speeds(from_storage_share)
    source = FetchingSource(_DATASET_BYTES, _BATCH * _ITEM_BYTES, speeds)
    fitted = speed_model(_GRID, measure, source)
    assert fitted is not None
    measure(Allocation(4.0, _DATASET_BYTES // 2), "check")
    if with_failure:
        out = "CUDA out of memory"
        place = Allocation(6.0, _DATASET_BYTES // 2)
        points.append(MeasuredPoint(place, "check", "out-of-memory", out))
    measure(_GRID.first, "drift")
    ready = _ready(model)
    subject = Subject(
        model, "image", "NVIDIA H200", _BATCH, _DATASET_BYTES, _ITEM_BYTES, "10,000 images",
        "NVIDIA H200 and 8 cores of a test", ready.versions, GPU_UUID,
    )  # fmt: skip
    notes = notes_on(ready, points, speeds, starts=1)
    return conclude(Findings(ready, _GRID, tuple(points), fitted, speeds, subject, notes, False))


def rich_stalls(model: str = "res50", *, from_storage_share: float = 1.02) -> StallResult:
    """With 4 CPUs, limited by fetching where nothing is cached."""
    ready, speeds = _ready(model), _speeds(from_storage_share)
    cached, cold = Allocation(4.0, _DATASET_BYTES), Allocation(4.0, 0)
    points = StallPoints(
        synthetic=_point(Allocation(8.0, _DATASET_BYTES), "grid"),
        cached=_point(cached, "grid"),
        cold=_point(cold, "grid"),
    )
    apart = StorageRates(_STORAGE_BYTES_PER_S / _ITEM_BYTES, 9e9 / _ITEM_BYTES)
    found = stage_rates(_BATCH, 4.0, points, apart)
    measured = [points.synthetic, points.cached, _point(cold, "grid")]
    notes = notes_on(ready, measured, speeds, starts=1)
    return StallResult(model, ready, 4.0, points, found, speeds, notes, GPU_UUID)
