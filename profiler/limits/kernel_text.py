"""What the kernel writes into the files of processes and of cgroups, as numbers. Pure.

(proc_pid_io(5), proc_pid_stat(5), Kernel documentation: filesystems/proc.rst, accounting/psi.rst,
admin-guide/cgroup-v1/memory.rst, admin-guide/cgroup-v2.rst, scheduler/sched-bwc.rst.)
"""

from __future__ import annotations

from dataclasses import dataclass

from emulator.limits.bandwidth import CpuBandwidth
from emulator.limits.usage import flat_keyed

_LEAST_UNLIMITED_BYTES = 2**62
"""v1 writes no limit as the largest number of whole pages, just below 2**63."""


@dataclass(frozen=True)
class MemorySplit:
    """Memory that a group is charged for. file_bytes: the page cache without shared memory, which
    the kernel can take back; shmem_bytes: shared memory and tmpfs, which it cannot."""

    anon_bytes: int
    file_bytes: int
    shmem_bytes: int

    @property
    def held_bytes(self) -> int:
        """What cannot be taken back without swap."""
        return self.anon_bytes + self.shmem_bytes


@dataclass(frozen=True)
class Pressure:
    """Seconds, since the kernel began to count, in which work stood still for want of a resource:
    some of it, and all of it at once (None where this kernel does not tell that)."""

    some_s: float
    full_s: float | None


@dataclass(frozen=True)
class ProportionalMemory:
    """A process's memory, each page divided by the number of processes that map it; None for the
    parts where the kernel is older than 5.3."""

    pss_bytes: int
    anon_bytes: int | None
    file_bytes: int | None
    shmem_bytes: int | None


def parse_quota(version: int, text: str) -> CpuBandwidth | None:
    """None where there is no quota. text: of cpu.max in v2; in v1 of cpu.cfs_quota_us and
    cpu.cfs_period_us, joined."""
    quota, period = text.split()
    if quota == "max" or (version == 1 and int(quota) < 0):
        return None
    return CpuBandwidth(int(quota), int(period))


def parse_memory_limit(text: str) -> int | None:
    """None where there is none. text: of memory.max or memory.limit_in_bytes."""
    word = text.strip()
    if word == "max" or int(word) >= _LEAST_UNLIMITED_BYTES:
        return None
    return int(word)


def parse_memory_split(version: int, text: str) -> MemorySplit:
    """text: of memory.stat, with the groups below. In both versions shared memory is a part of what
    is called file or cache."""
    stat = flat_keyed(text)
    if version == 2:
        return MemorySplit(stat["anon"], stat["file"] - stat["shmem"], stat["shmem"])
    shmem_bytes = stat["total_shmem"]
    return MemorySplit(stat["total_rss"], stat["total_cache"] - shmem_bytes, shmem_bytes)


def parse_pressure(text: str) -> Pressure:
    """text: of a file of pressure stall information, which counts microseconds."""
    total_s = {}
    for line in text.splitlines():
        kind, *numbers = line.split()
        values = dict(number.split("=") for number in numbers)
        total_s[kind] = int(values["total"]) / 1e6
    return Pressure(total_s["some"], total_s.get("full"))


def parse_smaps_rollup(text: str) -> ProportionalMemory:
    """text: of /proc/PID/smaps_rollup, in units of 1024 bytes."""
    sizes = {}
    for line in text.splitlines()[1:]:  # the first is the range of addresses
        name, size, *_ = line.split()
        sizes[name.rstrip(":")] = int(size) * 1024
    return ProportionalMemory(
        sizes["Pss"], sizes.get("Pss_Anon"), sizes.get("Pss_File"), sizes.get("Pss_Shmem")
    )


def parse_storage_read_bytes(text: str) -> int:
    """What a process had fetched from storage. text: of /proc/PID/io."""
    return flat_keyed(text.replace(":", ""))["read_bytes"]


def parse_cpu_ticks(text: str) -> int:
    """CPU time of a process and of those children that it has waited for, in clock ticks.

    text: of /proc/PID/stat, whose second field is a name in brackets that may hold anything.
    """
    user, system, of_children_user, of_children_system = text.rpartition(")")[2].split()[11:15]
    return int(user) + int(system) + int(of_children_user) + int(of_children_system)
