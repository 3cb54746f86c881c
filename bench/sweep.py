"""How busy a sweep keeps the cores."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from bench.figures import Figure

POINTS = 200

_SEEDS = 5


def many_points(servers: int, jobs: int, first: int, count: int) -> str:
    """A scenario of two arms whose points are short; first, count: the jobs that are measured."""
    return f"""\
name: many-points
cluster: {{servers: {servers}}}
workload:
  generate: {{jobs: {jobs}, load: 0.9}}
  split: {{image: 20, language: 70, speech: 10}}
measure: {{first: {first}, count: {count}}}
arms:
  proportional: {{}}
  tune:
    scheduler: {{mechanism: tune}}
"""


def measure() -> Iterator[Figure]:
    """CPU time of all processes of a sweep over its wall time, from the command to its end."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "scenario.yaml"
        file.write_text(many_points(servers=16, jobs=1500, first=300, count=900))
        loads = POINTS // (2 * _SEEDS)
        command = (
            *(str(Path(sys.executable).with_name("roundelay")), "sweep", str(file), "--quiet"),
            *("--vary", "scheduler.policy=fifo,srtf"),
            *("--vary", f"workload.generate.load=0.5..0.9:{loads}", "--seeds", str(_SEEDS)),
            *("-o", str(Path(place) / "out")),
        )
        cpu_s, wall_s = _times(command)
        rows = pd.read_parquet(Path(place) / "out" / "points")
    in_points_s = rows.groupby("point")["wall_s"].first()
    cores = len(os.sched_getaffinity(0))
    note = (
        f"{len(in_points_s)} simulated points on {cores} cores in {wall_s:.1f} s; "
        f"in points {in_points_s.sum() / cores / wall_s:.0%} of it, "
        f"a point takes {in_points_s.median() * 1e3:.0f} ms"
    )
    value = 100 * cpu_s / cores / wall_s
    yield Figure("sweep.core_use_pct", value, "%", 85.0, "at least", None, note)


def _times(command: tuple[str, ...]) -> tuple[float, float]:
    """(CPU seconds of the command and its children, wall seconds)."""
    before, began_s = _cpu_s(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return _cpu_s() - before, time.perf_counter() - began_s


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
