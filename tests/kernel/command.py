"""Runs the installed command as a person would, and scenarios to run it on."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROUNDELAY = Path(sys.executable).with_name("roundelay")
EXAMPLE = Path(__file__).parents[2] / "examples" / "two-vgg19.yaml"
REAL_DATA = Path(__file__).parents[3] / "shared" / "data"

TRIES = 4


def roundelay(
    *words: str | Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    argv = [str(ROUNDELAY), *map(str, words)]
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=300, check=False, env=environment
    )


def start(*words: str | Path) -> subprocess.Popen[str]:
    """Start the command and return at once."""
    argv = [str(ROUNDELAY), *map(str, words)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def short_example(directory: Path, iterations: int = 10) -> Path:
    """The first example with fewer iterations."""
    text = EXAMPLE.read_text().replace("iterations: 36", f"iterations: {iterations}")
    assert f"iterations: {iterations}" in text
    file = directory / "short.yaml"
    file.write_text(text)
    return file


def trusted_run(scenario: Path, directory: Path, *options: str) -> dict[str, Any]:
    """``roundelay run --json`` until the verdict trusts every arm; a failure is never retried.

    Only an arm that the verdict calls suspect (the box was disturbed) is worth another try.
    """
    statuses: list[str] = []
    for attempt in range(TRIES):
        output = directory / f"run-{attempt}"
        done = roundelay("run", scenario, "-o", output, "--json", *options)
        assert done.returncode == 0, done.stderr
        summary: dict[str, Any] = json.loads(done.stdout)
        statuses = [arm["verdict"]["status"] for arm in summary["arms"]]
        assert "invalid" not in statuses, done.stderr
        if "suspect" not in statuses:
            return summary
    raise AssertionError(f"the box was disturbed in {TRIES} runs: {statuses}")


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = 30.0) -> Any:
    """The first true value of ``condition``."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited {timeout_s} s for {what}")


def arm(summary: dict[str, Any], name: str) -> dict[str, Any]:
    """One arm of a summary."""
    found: Sequence[dict[str, Any]] = [each for each in summary["arms"] if each["name"] == name]
    assert len(found) == 1
    return found[0]


def mean_s(arm_summary: dict[str, Any], side: str = "measured") -> float:
    """Mean iteration time of one side."""
    return float(arm_summary[side]["iteration_s"]["mean"])
