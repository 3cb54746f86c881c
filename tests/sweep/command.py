"""Runs real sweeps as a person would, and looks at their processes and files."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.sweep import many_points

ROUNDELAY = Path(sys.executable).with_name("roundelay")
POINTS = 24
SCENARIO = many_points(servers=4, jobs=800, first=100, count=500)

Files = dict[str, tuple[int, int]]


def words_of(directory: Path, points: int = POINTS) -> list[str]:
    """The command of a sweep of so many points into ``directory``/out."""
    file = directory / "scenario.yaml"
    file.write_text(SCENARIO)
    varied = f"workload.generate.load=0.5..0.9:{points}"
    return [str(ROUNDELAY), "sweep", str(file), "--vary", varied, "-o", str(directory / "out")]


def start(words: list[str]) -> subprocess.Popen[str]:
    """Start it as the leader of a session, as a shell does."""
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def files_of(directory: Path) -> Files:
    """Inode and time of writing of each finished point's file: another run would change both."""
    found = {file.stem: file.stat() for file in (directory / "out" / "points").glob("[!.]*")}
    return {name: (status.st_ino, status.st_mtime_ns) for name, status in found.items()}


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes that run its points."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [child for child in map(int, children) if "spawn_main" in _command(child)]


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def is_running(process: int) -> bool:
    """Whether it still runs a sweep's points."""
    return "spawn_main" in _command(process)


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = 60.0) -> None:
    """Until ``condition`` holds."""
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, f"waited {timeout_s} s for {what}"
        time.sleep(0.01)
