"""The documented commands that need root or are about the machine, on a shorter first example."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.documentation import commands, words_of
from tests.kernel.command import EXAMPLE, ROUNDELAY

EMULATING = (
    "roundelay run examples/two-vgg19.yaml -o runs/both",
    "roundelay emulate examples/two-vgg19.yaml -o runs/measured",
    "roundelay run examples/two-vgg19.yaml --rootless",
)
ALONE_S = 0.23  # what an iteration takes a job that has the link for itself

ABOUT_THE_MACHINE = ("roundelay doctor", "roundelay clean --dry-run")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory with the first example, with few iterations and one arm."""
    text = EXAMPLE.read_text()
    arms = text[text.index("arms:") :]
    shorter = text.replace(arms, "arms:\n  together: {}\n").replace(
        "iterations: 36", "iterations: 3"
    )
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / EXAMPLE.name).write_text(shorter)
    return tmp_path


def carry_out(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    assert command in commands()
    return subprocess.run(
        (str(ROUNDELAY), *words_of(command, place)),
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("command", EMULATING)
def test_a_documented_emulation_measures_what_the_scenario_says(command: str, here: Path) -> None:
    done = carry_out(command, here)
    assert done.returncode == 0, done.stderr
    (directory,) = (here / "runs").iterdir()
    (arm,) = json.loads((directory / "summary.json").read_text())["arms"]
    assert arm["name"] == "together"
    assert arm["measured"]["iteration_s"]["mean"] > ALONE_S


@pytest.mark.parametrize("command", ABOUT_THE_MACHINE)
def test_a_documented_command_about_the_machine_works(command: str, here: Path) -> None:
    done = carry_out(command, here)
    assert done.returncode == 0, done.stderr
    assert [entry.name for entry in here.iterdir()] == ["examples"]
