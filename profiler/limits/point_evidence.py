"""What the kernel and the GPU tell of one measured point: the difference of two readings. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from emulator.limits.usage import Usage
from profiler.limits.gpu_evidence import GpuEvidence
from profiler.limits.kernel_text import MemorySplit, Pressure, ProportionalMemory
from profiler.limits.process_totals import ProcessTotals

_NO_GROUP = "the processes have no cgroup"
_NOT_TOLD = "this kernel does not tell it"


@dataclass(frozen=True)
class Reading:
    """At one moment. usage: of the group; None without one. pressure: by resource, of ``scope``,
    the "group" or the whole "machine"."""

    at_s: float
    usage: Usage | None
    totals: ProcessTotals
    scope: str
    pressure: Mapping[str, Pressure]
    threads_put_back: int | None


@dataclass(frozen=True)
class CpuEvidence:
    """cpus_allowed: all that the processes may run on, as the kernel writes sets. used_s: CPU time,
    counted by ``used_by``. periods: of the quota, in which something ran; throttled_periods: those
    of them that used it up; throttled_s: work had to wait for the next, summed over processors.
    threads_put_back: that had left the CPUs they were given by affinity.
    """

    cpus_allowed: str | None
    used_s: float | None
    used_by: str
    periods: int | None
    throttled_periods: int | None
    throttled_s: float | None
    threads_put_back: int | None


@dataclass(frozen=True)
class MemoryEvidence:
    """At the end of the point. charged: to the group. highest_held_bytes: anonymous and shared
    memory together, in samples. proportional: of ``processes`` processes together. oom_kills:
    processes that the kernel ended at the memory limit.
    """

    charged: MemorySplit | None
    highest_held_bytes: int | None
    proportional: ProportionalMemory | None
    processes: int
    oom_kills: int | None


@dataclass(frozen=True)
class PressureEvidence:
    """Seconds of the point in which work of the ``scope`` ("group" or "machine") stood still for
    want of a resource; empty where the kernel does not count it."""

    scope: str
    stalled: Mapping[str, Pressure]


@dataclass(frozen=True)
class PointEvidence:
    """storage_read_bytes: fetched from storage for the processes, as /proc/PID/io counts it, with
    those that ended and were waited for: with a cache that holds all, nothing. A file system that
    does not count (FUSE) leaves it at 0, which StorageSpeed.from_storage_share shows.

    missing: why, by the dotted name of each value that is None or empty.
    """

    elapsed_s: float
    cpu: CpuEvidence
    memory: MemoryEvidence
    pressure: PressureEvidence
    storage_read_bytes: int | None
    gpu: GpuEvidence | None
    missing: Mapping[str, str]

    def to_document(self) -> Mapping[str, object]:
        """For a point's record."""
        return asdict(self)


def cpu_evidence(
    before: Reading, after: Reading, cpus_allowed: str | None, no_quota: str | None
) -> tuple[CpuEvidence, dict[str, str]]:
    """With the reasons for what is missing. no_quota: why there can be no quota here."""
    missing = {}
    used_s = _grown(before.usage, after.usage, "cpu_s")
    by = "cgroup"
    if used_s is None:
        by = "/proc/PID/stat"
        used_s, missing["cpu.used_s"] = _total_grown(before.totals, after.totals, "cpu_s")
    names = ("cpu.periods", "cpu.throttled_periods", "cpu.throttled_s")
    missing |= dict.fromkeys(names, no_quota or _without(after.usage))
    put_back = None
    if before.threads_put_back is not None and after.threads_put_back is not None:
        put_back = after.threads_put_back - before.threads_put_back
    missing["cpu.threads_put_back"] = "a cpuset does not let threads leave"
    missing["cpu.cpus_allowed"] = "none of its processes runs"
    found = CpuEvidence(
        cpus_allowed,
        used_s,
        by,
        _whole(_grown(before.usage, after.usage, "periods")),
        _whole(_grown(before.usage, after.usage, "throttled_periods")),
        _grown(before.usage, after.usage, "throttled_s"),
        put_back,
    )
    return found, missing


def memory_evidence(
    before: Reading,
    after: Reading,
    charged: MemorySplit | None,
    highest_held_bytes: int | None,
    proportional: tuple[ProportionalMemory | None, int, str],
    no_limit: str | None,
) -> tuple[MemoryEvidence, dict[str, str]]:
    """charged: to the group at the end. proportional: as of ``read_proportional_memory``. no_limit:
    why the group's memory is not counted here."""
    total, processes, reason = proportional
    of_group = no_limit or _without(after.usage)
    found = MemoryEvidence(
        charged,
        highest_held_bytes,
        total,
        processes,
        _whole(_grown(before.usage, after.usage, "oom_kills")),
    )
    names = ("memory.charged", "memory.highest_held_bytes", "memory.oom_kills")
    missing = dict.fromkeys(names, of_group)
    parts = ("anon_bytes", "file_bytes", "shmem_bytes")
    missing |= dict.fromkeys((f"memory.proportional.{part}" for part in parts), reason)
    return found, missing | {"memory.proportional": reason}


def pressure_evidence(before: Reading, after: Reading) -> PressureEvidence:
    """Of the resources that both readings have."""
    stalled = {
        name: Pressure(
            end.some_s - before.pressure[name].some_s,
            _difference(before.pressure[name].full_s, end.full_s),
        )
        for name, end in after.pressure.items()
        if name in before.pressure
    }
    return PressureEvidence(after.scope, stalled)


def storage_evidence(before: Reading, after: Reading) -> tuple[int | None, str]:
    """(bytes fetched from storage, why they are not known)."""
    grown, reason = _total_grown(before.totals, after.totals, "storage_read_bytes")
    return _whole(grown), reason


def point_evidence(
    elapsed_s: float,
    cpu: CpuEvidence,
    memory: MemoryEvidence,
    pressure: PressureEvidence,
    storage_read_bytes: int | None,
    gpu: GpuEvidence | None,
    reasons: Mapping[str, str],
) -> PointEvidence:
    """reasons: for everything that might be missing; kept for what is."""
    found = PointEvidence(elapsed_s, cpu, memory, pressure, storage_read_bytes, gpu, {})
    absent = list(_absent(found.to_document()))
    missing = {name: reasons.get(name, _NOT_TOLD) for name in absent}
    return PointEvidence(elapsed_s, cpu, memory, pressure, storage_read_bytes, gpu, missing)


def _absent(document: Mapping[str, object], prefix: str = "") -> list[str]:
    """Dotted names of what is None or holds nothing, but for ``missing`` itself."""
    names = []
    for name, value in document.items():
        dotted = f"{prefix}{name}"
        if dotted == "missing":
            continue
        if value is None or (value == {} and name == "stalled"):
            names.append(dotted)
        elif isinstance(value, Mapping):
            names += _absent(value, f"{dotted}.")
    return names


def _without(usage: Usage | None) -> str:
    return _NO_GROUP if usage is None else _NOT_TOLD


def _grown(before: Usage | None, after: Usage | None, name: str) -> float | None:
    if before is None or after is None:
        return None
    return _difference(getattr(before, name), getattr(after, name))


def _total_grown(
    before: ProcessTotals, after: ProcessTotals, name: str
) -> tuple[float | None, str]:
    reason = before.missing.get(name) or after.missing.get(name) or ""
    grown = _difference(getattr(before, name), getattr(after, name))
    if grown is not None and grown < 0:
        return None, "of processes that ended, some were waited for by none of the others"
    return grown, reason


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
