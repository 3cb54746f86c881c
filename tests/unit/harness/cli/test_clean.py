"""clean: what it is told to remove. What it removes is tested on the real kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netshaper.run_state import ProcessIdentity, RunState
from tests.unit.harness.cli.conftest import Roundelay

ENDED, GOING_ON = ("ended1", "ended2"), "goeson"


@pytest.fixture(autouse=True)
def runs(roundelay: Roundelay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of runs that own nothing: two have ended, one goes on."""
    monkeypatch.setattr("harness.cli.clean.require_privileges", lambda: None)
    monkeypatch.setattr("emulator.clean.existing_namespaces", set)
    monkeypatch.setattr("emulator.clean.remove_namespaces", list)
    for run_id in (*ENDED, GOING_ON):
        state = RunState.create(run_id)
        if run_id in ENDED:
            state.owner = ProcessIdentity(2**22 + 1, 0)  # above the largest id of Linux
            state.save()


def left(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "state").iterdir())


@pytest.mark.parametrize("options", [(), ("--all",)])
def test_every_run_that_has_ended_is_removed(
    roundelay: Roundelay, tmp_path: Path, options: tuple[str, ...]
) -> None:
    result = roundelay("clean", "--json", *options)
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert [run["run_id"] for run in document["runs"]] == list(ENDED)
    assert document["going_on"] == [GOING_ON]
    assert left(tmp_path) == [GOING_ON]


def test_one_run_is_removed(roundelay: Roundelay, tmp_path: Path) -> None:
    assert roundelay("clean", "--run", ENDED[0]).exit_code == 0
    assert left(tmp_path) == [ENDED[1], GOING_ON]


@pytest.mark.parametrize("options", [(), ("--all",), ("--run", ENDED[0])])
def test_a_dry_run_removes_nothing(
    roundelay: Roundelay, tmp_path: Path, options: tuple[str, ...]
) -> None:
    result = roundelay("clean", "--dry-run", *options)
    assert result.exit_code == 0
    assert "ended1: would remove" in result.stderr
    assert ("ended2: would remove" in result.stderr) is ("--run" not in options)
    assert left(tmp_path) == [*ENDED, GOING_ON]


def test_one_run_and_all_of_them_are_two_things(roundelay: Roundelay, tmp_path: Path) -> None:
    result = roundelay("clean", "--run", ENDED[0], "--all")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "allowed: one of --run ID and --all" in result.stderr
    assert left(tmp_path) == [*ENDED, GOING_ON]


def test_a_run_that_goes_on_is_refused(roundelay: Roundelay, tmp_path: Path) -> None:
    result = roundelay("clean", "--run", GOING_ON)
    assert result.exit_code == 1
    assert "still going on" in result.stderr
    assert left(tmp_path) == [*ENDED, GOING_ON]


def test_an_unknown_run_is_refused_with_the_known_ones(roundelay: Roundelay) -> None:
    result = roundelay("clean", "--run", "nobody")
    assert result.exit_code == 2
    assert "allowed: ended1, ended2, goeson" in result.stderr
