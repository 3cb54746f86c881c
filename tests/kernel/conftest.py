"""Tests on the real kernel: namespaces, cgroups, tc. Without root they skip and say so."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from netshaper.run_state import STATE_DIRECTORY_VARIABLE


def _why_not() -> str | None:
    if os.geteuid() != 0:
        return "needs root"
    try:
        probe = ("unshare", "--net", "true")
        done = subprocess.run(probe, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "needs unshare of util-linux"
    return None if done.returncode == 0 else f"cannot make namespaces: {done.stderr.strip()}"


_REASON = _why_not()

_SHARES_THE_BOX = {
    "test_bad_machine.py",
    "test_cassini_snapshots.py",
    "test_killed_at_every_step.py",
    "test_leaves_nothing.py",
    "test_plan.py",
    "test_resumed_rounds.py",
    "test_rootless.py",
    "test_rounds_scenario.py::test_a_killed_run_is_resumed_and_nothing_counts_twice",
    "test_rounds_scenario.py::test_a_recorded_schedule_is_replayed",
    "test_rounds_scenario.py::test_an_interrupt_keeps_the_arm_that_was_done",
    "test_same_run_id.py",
}
"""What these files and tests ask about is the same however busy the box is: several run at once."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if not item.path.is_relative_to(here):
            continue
        if not {item.path.name, f"{item.path.name}::{item.name}"} & _SHARES_THE_BOX:
            item.add_marker(pytest.mark.undisturbed)
        if _REASON is not None:
            item.add_marker(pytest.mark.skip(reason=_REASON))


@pytest.fixture(autouse=True)
def state_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Each test has its own records, so that it can neither see nor clean another's runs."""
    directory = tmp_path / "state"
    monkeypatch.setenv(STATE_DIRECTORY_VARIABLE, str(directory))
    yield directory
    left = [path.name for path in directory.iterdir()] if directory.exists() else []
    assert not left, f"records of runs are left: {left}"
