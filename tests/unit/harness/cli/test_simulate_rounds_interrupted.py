"""Ctrl-C while simulate is at a scenario of rounds: what was done until then is kept."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from harness.cli import simulate_rounds
from tests.unit.builders import ROUNDS_SCENARIO, edited, write_scenario
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.harness.cli.rounds_files import ROUNDS_FILES
from tests.unit.harness.cli.said import folded
from tests.unit.traces.rounds_scenarios import TUNE
from traces.rounds_results import ROUNDS
from traces.run_directory import read_json

INTERRUPTED = edited(ROUNDS_SCENARIO, "mechanism: opt", "policy: fifo").replace(
    TUNE, "    scheduler: {policy: las}"
)
"""The first arm is done in a few decisions, the second decides in every round."""


@pytest.fixture
def harmless_without_handler() -> Iterator[None]:
    """A test that fails must not end the test run."""
    previous = signal.signal(signal.SIGINT, lambda *_: None)
    yield
    signal.signal(signal.SIGINT, previous)


@contextlib.contextmanager
def progress_that(act: Callable[[str], None]) -> Iterator[Callable[[str, int, int], None]]:
    def show(what: str, done: int, total: int) -> None:
        act(what)

    yield show


def interrupt_in(arm: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C, ``times`` over, when ``arm`` first says how far it is: after 256 decisions."""
    left = [times]

    def act(what: str) -> None:
        while what.startswith(arm) and left[0]:
            left[0] -= 1
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(simulate_rounds, "progress_bars", lambda: progress_that(act))


@pytest.mark.usefixtures("harmless_without_handler")
def test_after_ctrl_c_everything_so_far_is_kept(
    roundelay: Roundelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_in("tune", 1, monkeypatch)
    file = write_scenario(tmp_path, INTERRUPTED)
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 130
    said = folded(result.stderr)
    assert "stopping after the round under way" in said
    assert "The run was interrupted; what was simulated until then is kept." in said
    assert {each.name for each in (tmp_path / "out").iterdir()} == ROUNDS_FILES

    summary = json.loads(result.stdout)
    assert summary == read_json(tmp_path / "out" / "summary.json")
    assert summary["interrupted"] is True
    assert [(arm["name"], len(arm["runs"])) for arm in summary["arms"]] == [
        ("proportional", 2), ("tune", 1), ("opt", 0)
    ]  # fmt: skip
    stopped = summary["arms"][1]
    assert stopped["speedup"] is None
    (run,) = stopped["runs"]
    assert run["decisions"] == 256
    assert 0 < run["jobs"]["counted_and_finished"] < run["jobs"]["counted"]
    assert f"{run['jobs']['counted_and_finished']} of 40 jobs that count have ended" in said

    jobs = pd.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert jobs.groupby(["arm", "seed"], sort=False).size().to_dict() == {
        ("proportional", 5): 60, ("proportional", 6): 60, ("tune", 5): 60
    }  # fmt: skip
    partial = jobs[jobs["arm"] == "tune"]
    assert partial["state"].value_counts().to_dict() == run["jobs"]["states"]
    assert {"finished", "running", "not arrived"} <= set(partial["state"])
    leases = pd.read_parquet(tmp_path / "out" / "rounds.parquet")
    mine = leases[leases["arm"] == "tune"]
    held_s = (mine["until_s"] - mine["from_s"]).groupby(mine["job"]).sum()
    attained_s = partial.set_index("job")["attained_s"]
    assert held_s.to_dict() == pytest.approx(attained_s[attained_s > 0].to_dict())
    assert mine["until_s"].max() == run["end_s"]


@pytest.mark.usefixtures("harmless_without_handler")
def test_a_second_ctrl_c_ends_at_once_and_keeps_what_is_done(
    roundelay: Roundelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_in("tune", 2, monkeypatch)
    file = write_scenario(tmp_path, INTERRUPTED)
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert "roundelay: stopped" in result.stderr
    summary = read_json(tmp_path / "out" / "summary.json")
    assert summary["interrupted"] is True
    assert [len(arm["runs"]) for arm in summary["arms"]] == [2, 0]
    jobs = pd.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert set(jobs["arm"]) == {"proportional"}
    assert pq.read_schema(tmp_path / "out" / "rounds.parquet").equals(ROUNDS)
