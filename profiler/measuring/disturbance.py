"""What else ran on the CPUs of a training while it was measured."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from emulator.cpu_time import CpuTime, read_cpu_time, shares

LARGEST_CPUS = 0.1
"""Used by others, above which a point counts as disturbed; the profiler itself needs some."""


def cpu_time_of(cpus: Set[int], stat: str | None = None) -> CpuTime:
    """Of ``cpus`` together, from /proc/stat (proc(5))."""
    text = Path("/proc/stat").read_text() if stat is None else stat
    names = {f"cpu{number}" for number in cpus}
    times = [read_cpu_time(line) for line in text.splitlines() if line.split(" ", 1)[0] in names]
    return CpuTime(
        sum(time.total for time in times),
        sum(time.idle for time in times),
        sum(time.steal for time in times),
    )


def others_cpus(before: CpuTime, after: CpuTime, count: int, used_cpus: float) -> float:
    """CPUs' worth of time that the training did not get of ``count`` CPUs, though they were busy:
    that of other processes, or of a hypervisor. used_cpus: what the training used."""
    idle, _ = shares(before, after)
    return max((1 - idle) * count - used_cpus, 0.0)
