"""What Pollux' authors published of their simulator's runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traces.errors import BadInputError
from traces.run_directory import read_json

_ALLOWED = "jcts and avgs by workload, in s, as Pollux' simulator writes them"


@dataclass(frozen=True)
class PublishedRuns:
    """Runs of one policy. jct_s: by workload and job. average_s: of the jobs, by workload."""

    jct_s: dict[str, dict[str, float]]
    average_s: dict[str, float]


def read_published(file: Path) -> PublishedRuns:
    """A ``summary.json``. Raises BadInputError."""
    document = read_json(file)
    if not isinstance(document, dict):
        raise BadInputError("is no object", allowed=_ALLOWED, file=file)
    jct_s = document.get("jcts")
    if not isinstance(jct_s, dict):
        raise BadInputError("lacks times", allowed=_ALLOWED, file=file, key="jcts")
    average_s = _times(document.get("avgs"), file, "avgs")
    if set(jct_s) != set(average_s):
        raise BadInputError("are of other workloads", allowed=_ALLOWED, file=file, key="avgs")
    return PublishedRuns(
        {name: _times(times, file, f"jcts.{name}") for name, times in jct_s.items()},
        average_s,
    )


def _times(times: Any, file: Path, key: str) -> dict[str, float]:
    """``times`` checked: names and finite numbers."""
    good = isinstance(times, dict) and all(
        isinstance(time, int | float) and not isinstance(time, bool) and math.isfinite(time)
        for time in times.values()
    )
    if not good:
        raise BadInputError("lacks times", allowed=_ALLOWED, file=file, key=key)
    return {str(name): float(time) for name, time in times.items()}
