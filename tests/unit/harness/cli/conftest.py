"""The command in this process, apart from the machine's own state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli.main import main

Roundelay = Callable[..., Result]


@pytest.fixture
def roundelay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Roundelay:
    """Runs ``roundelay ARGUMENTS``; its state and current directory are the test's own."""
    monkeypatch.setenv("ROUNDELAY_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*arguments: object) -> Result:
        words = [str(argument) for argument in arguments]
        return CliRunner().invoke(main, words, prog_name="roundelay")

    return run
