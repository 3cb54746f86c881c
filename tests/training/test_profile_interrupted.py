"""Ctrl-C while a training is measured: what is known is kept, and nothing is left behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from tests.unit.profiler.measuring.stand_in import stand_in

ROUNDELAY = Path(sys.executable).with_name("roundelay")


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """Measures a training whose times scatter so much that each point takes its whole budget."""
    return [
        *(str(ROUNDELAY), "profile", "sensitivity", "--cpus", "1..2/0.5", "--budget", "2 s"),
        *("-o", str(tmp_path / "out"), "--json", "--", stand_in(tmp_path, noise=0.9)),
    ]


@pytest.fixture
def profiling(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> subprocess.Popen[str]:
    """The command, at work."""
    monkeypatch.setenv(STATE_DIRECTORY_VARIABLE, str(tmp_path / "run"))
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )


def test_what_was_measured_is_kept_and_goes_on(
    profiling: subprocess.Popen[str], command: list[str], tmp_path: Path
) -> None:
    assert profiling.stderr is not None
    for line in profiling.stderr:
        if line.startswith("point 2"):
            break
    profiling.send_signal(signal.SIGINT)
    said, _ = profiling.communicate(timeout=60)
    assert profiling.returncode == 130
    document = json.loads(said)
    assert document["interrupted"]
    assert len(document["points"]) == 1
    assert (tmp_path / "out" / "profile.json").is_file()
    assert (tmp_path / "out" / "report.html").is_file()
    # The record of cgroups and processes is gone, and so are they.
    assert not (tmp_path / "run").exists()
    again = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    whole = json.loads(again.stdout)
    assert not whole["interrupted"]
    assert whole["points"][0] == document["points"][0]


def test_a_second_signal_ends_it_at_once_and_cleans_up_too(
    profiling: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert profiling.stderr is not None
    for line in profiling.stderr:
        if line.startswith("point 1"):
            profiling.send_signal(signal.SIGINT)
        if line.startswith("stopping"):
            profiling.send_signal(signal.SIGINT)
            break
    profiling.communicate(timeout=60)
    assert profiling.returncode == 130
    assert not (tmp_path / "run").exists()
