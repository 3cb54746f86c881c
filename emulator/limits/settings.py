"""What to write into a group's files for a limit, and what they must hold afterwards. Pure.

(Kernel documentation: scheduler/sched-bwc.rst, cgroup-v1/memory.rst, cgroup-v1/cpusets.rst and
cgroup-v2.rst, "Core Interface Files" of each controller.)
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from emulator.limits.bandwidth import cpu_bandwidth
from emulator.limits.cpu_list import format_cpu_list

_DEFAULT_PERIOD_US = 100_000
_NO_LIMIT_BYTES = 2**63 - 1  # how v1 writes it, but for the rounding that is done below
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Setting:
    """Write ``written`` into ``file``; then ``read_from`` holds ``expected``."""

    file: str
    written: str
    read_from: str
    expected: str


def cpu_settings(version: int, cores: float | None) -> tuple[Setting, ...]:
    """cores: of this box; None for no limit. ValueError for fewer than the kernel can keep."""
    bandwidth = None if cores is None else cpu_bandwidth(cores)
    period = str(_DEFAULT_PERIOD_US if bandwidth is None else bandwidth.period_us)
    if version == 2:
        quota = "max" if bandwidth is None else str(bandwidth.quota_us)
        return (_setting("cpu.max", f"{quota} {period}"),)
    quota = "-1" if bandwidth is None else str(bandwidth.quota_us)
    # The share between the two writes is never above the larger of the old and the new one, which
    # a limited group above would refuse: a period above the shortest means that the quota is least.
    return (_setting("cpu.cfs_period_us", period), _setting("cpu.cfs_quota_us", quota))


def cpuset_settings(
    version: int, cpus: frozenset[int] | None, inherited: str
) -> tuple[Setting, ...]:
    """cpus: numbers of CPUs; None for all that the group above has, ``inherited``."""
    if cpus is not None and (not cpus or min(cpus) < 0):
        raise ValueError(f"{sorted(cpus)} is not a set of CPUs")
    # Of v2, too, a group with processes may not go back to an empty list.
    wanted = inherited if cpus is None else format_cpu_list(cpus)
    # v2 takes CPUs that the group above does not have, and then leaves them out.
    effective = "cpuset.cpus.effective" if version == 2 else "cpuset.effective_cpus"
    return (Setting("cpuset.cpus", wanted, effective, wanted),)


def memory_settings(
    version: int, limit_bytes: int | None, *, has_swap_limit: bool, swap_limit_bytes: int = 0
) -> tuple[Setting, ...]:
    """Memory without swap: the kernel keeps whole pages, so rounded down to them.

    limit_bytes: None for no limit. has_swap_limit: whether the group has the file that limits swap.
    swap_limit_bytes: v1 only, what that file holds now (memory and swap together).
    """
    if limit_bytes is not None and limit_bytes < PAGE_BYTES:
        raise ValueError(f"{limit_bytes} bytes are less than a page of {PAGE_BYTES}")
    wanted_bytes = _whole_pages(_NO_LIMIT_BYTES if limit_bytes is None else limit_bytes)
    if version == 2:
        memory = _setting("memory.max", "max" if limit_bytes is None else str(wanted_bytes))
        swap = _setting("memory.swap.max", "max" if limit_bytes is None else "0")
        return (memory, swap) if has_swap_limit else (memory,)
    memory = _setting("memory.limit_in_bytes", str(wanted_bytes))
    if not has_swap_limit:
        return (memory,)
    both = _setting("memory.memsw.limit_in_bytes", str(wanted_bytes))
    # At no time may the first be above the second.
    return (both, memory) if wanted_bytes > swap_limit_bytes else (memory, both)


def _setting(file: str, text: str) -> Setting:
    return Setting(file, text, file, text)


def _whole_pages(size_bytes: int) -> int:
    return size_bytes // PAGE_BYTES * PAGE_BYTES
