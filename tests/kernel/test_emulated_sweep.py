"""Points of a sweep emulated for real; two sweeps at once take turns on the box."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pandas as pd
import pytest

from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from tests.kernel.command import roundelay, start

SCENARIO = """\
name: one-pair
cluster: {preset: dumbbell, servers_left: 1, servers_right: 1, rate: 50 Gbit/s}
workload:
  iterations: 5
  warmup_iterations: 1
  jobs:
    - {id: alone, profile: vgg19, servers: [left0, right0]}
"""
RATE = ("--vary", "cluster.rate=25..50 Gbit/s:2")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "scenario.yaml"
    file.write_text(SCENARIO)
    return file


def test_two_sweeps_at_once_never_emulate_at_the_same_time(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv(STATE_DIRECTORY_VARIABLE, str(state))
    words = ("sweep", scenario, *RATE, "--emulate", "--seeds", "2")
    sweeps = [start(*map(str, words), "-o", tmp_path / name) for name in ("one", "two")]
    at_once = []
    while any(sweep.poll() is None for sweep in sweeps):
        runs = [name for name in _names(state) if not name.startswith(".")]
        at_once.append(len(runs))
        time.sleep(0.02)
    for sweep in sweeps:
        _, said = sweep.communicate()
        assert sweep.returncode == 0, said
    assert max(at_once) == 1
    for name in ("one", "two"):
        rows = pd.read_parquet(tmp_path / name / "points")
        assert len(rows) == rows["point"].nunique() == 4
        assert set(rows["verdict"]) <= {"valid", "suspect"}
        assert set(rows["seed"]) == {1, 2}
        means_s = rows.groupby("cluster.rate")["iteration_s.mean"].mean()
        # A slower link makes iterations longer; how well it is emulated other tests say.
        assert means_s["25 Gbit/s"] > means_s["50 Gbit/s"] > 0
    assert _names(state) == []


def test_finished_points_are_not_emulated_again(scenario: Path, tmp_path: Path) -> None:
    words = ("sweep", scenario, "--vary", "cluster.rate=50 Gbit/s", "--emulate")
    first = roundelay(*map(str, words), "-o", tmp_path / "out")
    assert first.returncode == 0, first.stderr
    again = roundelay(*map(str, words), "-o", tmp_path / "out", "--json")
    assert json.loads(again.stdout)["points"]["finished_before"] == 1


def _names(state: Path) -> list[str]:
    try:
        return [each.name for each in state.iterdir()]
    except FileNotFoundError:
        return []
