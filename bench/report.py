"""How long the report of a large run takes, and how large it is."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure

JOBS = 100_000

_RUNS = 5
_SCENARIO = f"""\
name: hundred-thousand-jobs
cluster: {{servers: 64}}
workload:
  generate: {{jobs: {JOBS}, load: 0.9, gpus: gavel}}
  split: {{image: 20, language: 70, speech: 10}}
"""


def measure() -> Iterator[Figure]:
    """Of a run of one arm, from the command to its end, the median of five."""
    with tempfile.TemporaryDirectory() as place:
        directory, page = Path(place) / "run", Path(place) / "report.html"
        scenario = Path(place) / "scenario.yaml"
        scenario.write_text(_SCENARIO)
        _roundelay("simulate", str(scenario), "-o", str(directory))
        taken_s = [_report_s(directory, page) for _ in range(_RUNS)]
        size_mb = page.stat().st_size / 1e6
    note = f"{JOBS:,} jobs, 512 GPUs, one arm"
    times = f"{note}; median of {_RUNS}, {min(taken_s):.1f} to {max(taken_s):.1f} s"
    build_s = statistics.median(taken_s)
    yield Figure("report.build_100k_jobs_s", build_s, "s", 20.0, "at most", None, times)
    yield Figure("report.size_mb", size_mb, "MB", 15.0, "at most", None, f"{note}; plotly inside")


def _report_s(directory: Path, page: Path) -> float:
    began_s = time.perf_counter()
    _roundelay("report", str(directory), "-o", str(page))
    return time.perf_counter() - began_s


def _roundelay(*arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("roundelay")), *arguments]
    subprocess.run(command, check=True, capture_output=True)
