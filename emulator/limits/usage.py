"""What a group has used, as its own files tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class Usage:
    """Since the group was made; None for what this kernel does not tell.

    cpu_s: CPU time. throttled_s: time its processors had work and no quota left, summed over them.
    periods, throttled_periods: of the CPU quota, those in which anything ran at all, and those of
    them that used it up. memory_peak_bytes: the most at any time. oom_kills: processes that the
    kernel ended at the memory limit.
    """

    cpu_s: float | None
    throttled_s: float | None
    periods: int | None
    throttled_periods: int | None
    memory_bytes: int | None
    memory_peak_bytes: int | None
    oom_kills: int | None


def read_usage(v1: Mapping[str, Path], v2: Path | None) -> Usage:
    """v1: the group's directory by controller; v2: the one in the unified hierarchy.

    What both tell is taken from v1, where the controllers then are.
    """
    unified = {} if v2 is None else flat_keyed(_text(v2, "cpu.stat"))
    throttling = flat_keyed(_text(v1.get("cpu"), "cpu.stat"))
    cpu_ns = _number(v1.get("cpuacct"), "cpuacct.usage")
    return Usage(
        cpu_s=_first(_scaled(cpu_ns, 1e-9), _scaled(unified.get("usage_usec"), 1e-6)),
        throttled_s=_first(
            _scaled(throttling.get("throttled_time"), 1e-9),
            _scaled(unified.get("throttled_usec"), 1e-6),
        ),
        periods=_first(throttling.get("nr_periods"), unified.get("nr_periods")),
        throttled_periods=_first(throttling.get("nr_throttled"), unified.get("nr_throttled")),
        memory_bytes=_first(
            _number(v1.get("memory"), "memory.usage_in_bytes"), _number(v2, "memory.current")
        ),
        memory_peak_bytes=_first(
            _number(v1.get("memory"), "memory.max_usage_in_bytes"), _number(v2, "memory.peak")
        ),
        oom_kills=_first(
            flat_keyed(_text(v1.get("memory"), "memory.oom_control")).get("oom_kill"),
            flat_keyed(_text(v2, "memory.events")).get("oom_kill"),
        ),
    )


def flat_keyed(text: str) -> dict[str, int]:
    """Lines of a name and a whole number each."""
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


def _text(directory: Path | None, file: str) -> str:
    """Empty where there is no such file."""
    path = None if directory is None else directory / file
    return "" if path is None or not path.exists() else path.read_text()


def _number(directory: Path | None, file: str) -> int | None:
    text = _text(directory, file)
    return int(text) if text else None


def _scaled(value: int | None, unit: float) -> float | None:
    return None if value is None else value * unit


def _first(legacy: _Number | None, unified: _Number | None) -> _Number | None:
    return unified if legacy is None else legacy
