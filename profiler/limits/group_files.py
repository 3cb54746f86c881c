"""What a limited group's own files say of its limits and of its memory; read, never written."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from emulator.cgroups import Hierarchy
from emulator.limits.available import Place
from emulator.limits.bandwidth import CpuBandwidth
from emulator.limits.cpu_list import parse_cpu_list
from profiler.limits.kernel_text import (
    MemorySplit,
    Pressure,
    parse_memory_limit,
    parse_memory_split,
    parse_pressure,
    parse_quota,
)

PRESSURES = ("cpu", "io", "memory")
"""What the kernel keeps pressure stall information of."""


def place_with(places: Sequence[Place], controller: str) -> Place | None:
    """Where ``controller`` is in force; None where nowhere."""
    return next((place for place in places if controller in place.controllers), None)


def quota_of(places: Sequence[Place]) -> CpuBandwidth | None:
    """The CPU quota in force; None where there is none."""
    place = place_with(places, "cpu")
    return None if place is None else _quota(place.version, place.path)


def cpus_of(places: Sequence[Place]) -> frozenset[int] | None:
    """The CPUs in force; None without a cpuset."""
    place = place_with(places, "cpuset")
    if place is None:
        return None
    file = "cpuset.cpus.effective" if place.version == 2 else "cpuset.effective_cpus"
    return parse_cpu_list((place.path / file).read_text())


def memory_limit_of(places: Sequence[Place]) -> int | None:
    """The memory limit in force, in bytes; None where there is none."""
    place = place_with(places, "memory")
    return None if place is None else _memory_limit(place.version, place.path)


def memory_split_of(places: Sequence[Place]) -> MemorySplit | None:
    """What the group is charged for now; None where no controller counts it."""
    place = place_with(places, "memory")
    if place is None:
        return None
    return parse_memory_split(place.version, (place.path / "memory.stat").read_text())


def pressure_of(places: Sequence[Place]) -> tuple[str, dict[str, Pressure]]:
    """("group" or "machine", by resource): v2 counts it for each group, also beside v1.

    Empty where the kernel does not count it.
    """
    unified = next((place.path for place in places if place.version == 2), None)
    if unified is not None and (unified / "cpu.pressure").exists():
        return "group", _pressures({name: unified / f"{name}.pressure" for name in PRESSURES})
    return "machine", _pressures({name: Path("/proc/pressure", name) for name in PRESSURES})


def seen_from(places: Sequence[Place], hierarchies: Sequence[Hierarchy]) -> list[Hierarchy]:
    """``hierarchies`` as a process sees them that is in the group of ``places``."""
    return [
        next(
            (
                replace(hierarchy, own_group=place.path)
                for place in places
                if place.version == hierarchy.version and place.path.is_relative_to(hierarchy.mount)
            ),
            hierarchy,
        )
        for hierarchy in hierarchies
    ]


def least_quota_cpus(hierarchies: Sequence[Hierarchy]) -> float | None:
    """The smallest CPU quota of a process's own group and those above it, as far as they are
    visible, in CPU seconds a second; None where none has one."""
    quotas = [
        _quota(hierarchy.version, group)
        for hierarchy in hierarchies
        if hierarchy.version == 2 or "cpu" in hierarchy.controllers
        for group in _upwards(hierarchy)
    ]
    return min((quota.cores for quota in quotas if quota is not None), default=None)


def least_memory_limit(hierarchies: Sequence[Hierarchy]) -> int | None:
    """The smallest memory limit, likewise, in bytes."""
    limits = [
        _memory_limit(hierarchy.version, group)
        for hierarchy in hierarchies
        if hierarchy.version == 2 or "memory" in hierarchy.controllers
        for group in _upwards(hierarchy)
    ]
    return min((limit for limit in limits if limit is not None), default=None)


def least_memory_left(hierarchies: Sequence[Hierarchy]) -> int | None:
    """What the tightest of these limits leaves to be held, in bytes; None without one."""
    left = []
    for hierarchy in hierarchies:
        if hierarchy.version == 2 or "memory" in hierarchy.controllers:
            for group in _upwards(hierarchy):
                limit_bytes = _memory_limit(hierarchy.version, group)
                if limit_bytes is not None:
                    stat = (group / "memory.stat").read_text()
                    held_bytes = parse_memory_split(hierarchy.version, stat).held_bytes
                    left.append(max(limit_bytes - held_bytes, 0))
    return min(left, default=None)


def _upwards(hierarchy: Hierarchy) -> list[Path]:
    group = hierarchy.own_group
    groups = [group]
    while group != hierarchy.mount:
        group = group.parent
        groups.append(group)
    return groups


def _quota(version: int, group: Path) -> CpuBandwidth | None:
    files = ("cpu.max",) if version == 2 else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    if not all((group / file).exists() for file in files):  # the root of v2 has no limits
        return None
    return parse_quota(version, " ".join((group / file).read_text() for file in files))


def _memory_limit(version: int, group: Path) -> int | None:
    file = group / ("memory.max" if version == 2 else "memory.limit_in_bytes")
    return parse_memory_limit(file.read_text()) if file.exists() else None


def _pressures(files: dict[str, Path]) -> dict[str, Pressure]:
    found = {}
    for name, file in files.items():
        with contextlib.suppress(OSError):  # not built in, or switched off at boot
            found[name] = parse_pressure(file.read_text())
    return found
