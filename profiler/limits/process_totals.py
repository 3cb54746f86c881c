"""What a changing set of processes has used, counted so that none is missed and none twice.

The kernel adds what a process has used to its parent's account when the parent waits for it
(wait(2); kernel/exit.c, wait_task_zombie). So the sum over those that run includes the ended ones,
if nobody came or went while it was read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profiler.limits.kernel_text import (
    ProportionalMemory,
    parse_cpu_ticks,
    parse_smaps_rollup,
    parse_storage_read_bytes,
)
from profiler.limits.process_tree import Processes

_MOST_TRIES = 20
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ProcessTotals:
    """Since each process began, with those that ended and were waited for; None, with the reason
    under its name in ``missing``, for what cannot be read.

    cpu_s: to a clock tick for each process. storage_read_bytes: that file systems had to fetch from
    storage for them, so nothing that the page cache or a tmpfs served.
    """

    cpu_s: float | None
    storage_read_bytes: int | None
    missing: Mapping[str, str]


def read_totals(processes: Processes) -> ProcessTotals:
    """Read again while processes come and go; after a number of tries give up and say so."""
    for _ in range(_MOST_TRIES):
        before = sorted(processes())
        try:
            ticks = sum(parse_cpu_ticks(_text(pid, "stat")) for pid in before)
            read_bytes = _storage_read_bytes(before)
        except (FileNotFoundError, ProcessLookupError):  # one has ended
            continue
        if not before:
            break
        if sorted(processes()) == before:
            cpu_s = ticks / _TICKS_PER_S
            if isinstance(read_bytes, str):
                return ProcessTotals(cpu_s, None, {"storage_read_bytes": read_bytes})
            return ProcessTotals(cpu_s, read_bytes, {})
    reason = "its processes came and went too fast to be counted" if before else "none of them runs"
    return ProcessTotals(None, None, dict.fromkeys(("cpu_s", "storage_read_bytes"), reason))


def read_proportional_memory(processes: Processes) -> tuple[ProportionalMemory | None, int, str]:
    """(sum, number of processes in it, why something is missing: empty where nothing is).

    Walks the page tables of each, during which it cannot map memory: not for between iterations.
    """
    each = []
    for pid in processes():
        try:
            each.append(parse_smaps_rollup(_text(pid, "smaps_rollup")))
        except (FileNotFoundError, ProcessLookupError, IndexError, KeyError):
            continue  # it has ended, or has no memory any more
        except OSError as error:
            return None, 0, f"/proc/{pid}/smaps_rollup cannot be read: {error.strerror}"
    if not each:
        return None, 0, "none of its processes runs"
    total = ProportionalMemory(
        sum(one.pss_bytes for one in each),
        _sum([one.anon_bytes for one in each]),
        _sum([one.file_bytes for one in each]),
        _sum([one.shmem_bytes for one in each]),
    )
    return total, len(each), "" if total.anon_bytes is not None else "Linux before 5.3 has no parts"


def _storage_read_bytes(pids: list[int]) -> int | str:
    """Bytes, or why they cannot be read."""
    try:
        return sum(parse_storage_read_bytes(_text(pid, "io")) for pid in pids)
    except (FileNotFoundError, ProcessLookupError):
        if Path("/proc/self/io").exists():
            raise
        return "this kernel does not count it (CONFIG_TASK_IO_ACCOUNTING)"
    except PermissionError:
        return "/proc/PID/io of a process that runs as another user needs root"


def _text(pid: int, file: str) -> str:
    return Path(f"/proc/{pid}/{file}").read_text()


def _sum(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
