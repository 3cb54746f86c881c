"""Words for the amounts of a profile. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from harness.report.words import NOTHING, SPACE, number, percent, seconds
from profiler.sensitivity.measured_point import MeasuredPoint

_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))

PURPOSES = {
    "cpus": "search along CPUs",
    "memory": "overlap of stages",
    "grid": "full grid",
    "check": "check",
    "drift": "first one again",
}


def size(value_bytes: float | None) -> str:
    """``1.2 GB``; a dash where it is not known."""
    if value_bytes is None:
        return NOTHING
    for factor, unit in _BYTES:
        if value_bytes >= factor:
            return f"{number(value_bytes / factor)}{SPACE}{unit}"
    return f"{number(value_bytes)}{SPACE}B"


def iteration(point: MeasuredPoint) -> str:
    """The time of an iteration with half the width of its interval."""
    if not point.is_measured:
        return NOTHING
    low_s, high_s = point.interval_s
    half = (high_s - low_s) / 2 / point.iteration_s
    return f"{seconds(point.iteration_s)} ± {number(half * 100)}{SPACE}%"


def share_cached(cache_bytes: float, dataset_bytes: float | None) -> str:
    """Of the dataset, what a cache holds; its size where the dataset is not known."""
    if not dataset_bytes:
        return size(cache_bytes)
    return percent(min(1.0, cache_bytes / dataset_bytes))


def hit_share(point: MeasuredPoint) -> str:
    """Of the samples; a dash where the cache was not asked."""
    looked_up = point.hits + point.misses
    return percent(point.hits / looked_up) if looked_up else NOTHING


def found(document: Mapping[str, Any], *path: str) -> Any:
    """What stands at ``path`` of nested ``document``; None where something on the way does not."""
    value: Any = document
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def maybe(value: float | None, unit: str = "") -> str:
    """A number with its unit; a dash where it is not known."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{number(value)}{SPACE}{unit}" if unit else number(value)
