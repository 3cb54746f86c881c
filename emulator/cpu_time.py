"""The box's CPU time, from /proc/stat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CpuTime:
    """Ticks since boot, all cores together."""

    total: int
    idle: int
    steal: int


def read_cpu_time(stat: str | None = None) -> CpuTime:
    """Parse the first line of /proc/stat (proc(5)): idle includes waiting for I/O."""
    text = Path("/proc/stat").read_text() if stat is None else stat
    user, nice, system, idle, iowait, irq, softirq, steal = map(int, text.split()[1:9])
    busy = user + nice + system + irq + softirq
    return CpuTime(busy + idle + iowait + steal, idle + iowait, steal)


def shares(before: CpuTime, after: CpuTime) -> tuple[float, float]:
    """(idle, steal) as shares of the time between."""
    total = max(after.total - before.total, 1)
    return (after.idle - before.idle) / total, (after.steal - before.steal) / total
