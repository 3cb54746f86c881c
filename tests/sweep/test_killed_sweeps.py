"""A sweep that is killed, interrupted or loses a process keeps what is finished, and goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd

from tests.sweep.command import (
    POINTS,
    Files,
    files_of,
    is_running,
    start,
    wait_until,
    words_of,
    workers_of,
)


def begun(directory: Path) -> subprocess.Popen[str]:
    """A sweep with a few points finished."""
    process = start(words_of(directory))
    wait_until(lambda: len(files_of(directory)) >= 4, "the first points")
    return process


def go_on(directory: Path, exit_code: int = 0) -> dict[str, Any]:
    """The same command again, to its end: its summary."""
    done = subprocess.run(
        [*words_of(directory), "--json"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == exit_code, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def check_complete(directory: Path, before: Files, summary: dict[str, Any]) -> None:
    """Every point once, and those that were finished before were not run again."""
    after = files_of(directory)
    assert len(after) == POINTS
    assert {name: after[name] for name in before} == before
    assert summary["points"] == {
        "wanted": POINTS, "finished_before": len(before), "finished": POINTS, "failed": 0,
    }  # fmt: skip
    rows = pd.read_parquet(directory / "out" / "points")
    assert len(rows) == 2 * POINTS
    assert not rows.duplicated(["workload.generate.load", "seed", "arm"]).any()
    assert rows.notna()["jct_s.all.mean"].all()


def test_kill_9_leaves_whole_points_and_no_processes(tmp_path: Path) -> None:
    process = begun(tmp_path)
    workers = workers_of(process)
    process.kill()
    process.wait()
    before = files_of(tmp_path)
    assert 4 <= len(before) < POINTS
    wait_until(lambda: not any(map(is_running, workers)), "the workers' end")
    assert files_of(tmp_path) == before
    assert len(pd.read_parquet(tmp_path / "out" / "points")) == 2 * len(before)
    check_complete(tmp_path, before, go_on(tmp_path))


def test_ctrl_c_ends_with_the_points_under_way_and_keeps_them(tmp_path: Path) -> None:
    process = begun(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "stopping after the points under way" in said
    before = files_of(tmp_path)
    assert 4 <= len(before) < POINTS
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["interrupted"]
    assert summary["points"]["finished"] == len(before)
    assert summary["points"]["failed"] == 0
    check_complete(tmp_path, before, go_on(tmp_path))


def test_a_killed_process_costs_one_point(tmp_path: Path) -> None:
    process = begun(tmp_path)
    os.kill(workers_of(process)[0], signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert "SIGKILL, most likely for its memory" in said
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["points"]["failed"] == 1
    assert summary["points"]["finished"] == POINTS - 1
    (failed,) = summary["failed"]
    assert (tmp_path / "out" / failed["file"]).is_file()
    before = files_of(tmp_path)
    assert failed["point"] not in before
    check_complete(tmp_path, before, go_on(tmp_path))
    assert not (tmp_path / "out" / failed["file"]).exists()
