"""How much memory this box has to give. (proc(5))"""

from __future__ import annotations

from pathlib import Path


def available_memory_bytes(meminfo: str | None = None) -> int:
    """What new processes could take without swapping: MemAvailable of /proc/meminfo."""
    text = Path("/proc/meminfo").read_text() if meminfo is None else meminfo
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    raise ValueError("/proc/meminfo does not tell MemAvailable")
