"""Whole runs through the command, and what is left of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from emulator.session import Session
from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from tests.kernel.command import ROUNDELAY
from tests.kernel.machine import cgroups, leftovers, namespaces

_RATE_DIVISOR = 5000
_TIMEOUT_S = 120.0
_SCENARIO = """\
name: guest
seed: 1
cluster: {{preset: dumbbell, servers_left: 2, servers_right: 2, rate: 50 Gbit/s}}
scale: {{rate_divisor: {rate_divisor}}}
workload:
  iterations: {iterations}
  warmup_iterations: 1
  jobs:
    - {{id: one, profile: vgg19, servers: [left0, right0]}}
    - {{id: two, profile: vgg19, servers: [left1, right1]}}
arms:
  together: {{}}
"""


def whole_run() -> dict[str, Any]:
    """``roundelay emulate`` of two jobs, to its end."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        command = _command(place, "guestrun", iterations=3)
        environment = _environment(place)
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=_TIMEOUT_S,
        )
        return {
            "exit": done.returncode,
            "said": done.stderr[-2000:],
            "summary": json.loads(done.stdout) if done.returncode == 0 else None,
            "left": leftovers("guestrun", place / "state"),
            "records": [path.name for path in (place / "state").iterdir()],
        }


def killed_run() -> dict[str, Any]:
    """Kill the controller in mid-run, then ``roundelay clean``.

    A process that knows nothing of the controller is put into the run's cgroup.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        environment = _environment(place)
        with (place / "said").open("w") as said:
            run = subprocess.Popen(
                _command(place, "guestkill", iterations=1000),
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=environment,
            )
        stranger = subprocess.Popen(("sleep", "600"))
        try:
            group = _wait_for(lambda: run.poll() is not None or _worker_group("guestkill"))
            if run.poll() is not None:
                return {"ended_early": (place / "said").read_text()[-2000:]}
            (group / "cgroup.procs").write_text(str(stranger.pid))
            run.kill()
            run.wait()
            left_by_kill = namespaces("guestkill")
            clean = subprocess.run(
                (str(ROUNDELAY), "clean", "--json"),
                capture_output=True,
                text=True,
                check=False,
                env=environment,
                timeout=_TIMEOUT_S,
            )
            return {
                "left_by_kill": left_by_kill,
                "exit": clean.returncode,
                "said": clean.stderr[-2000:],
                "cleaned": json.loads(clean.stdout) if clean.returncode == 0 else None,
                "stranger_ended": stranger.poll() == -signal.SIGKILL,
                "left": leftovers("guestkill", place / "state"),
                "records": [path.name for path in (place / "state").iterdir()],
            }
        finally:
            for process in (run, stranger):
                process.kill()
                process.wait()


def session() -> dict[str, Any]:
    """A session makes its group and a server's, and leaves nothing."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        os.environ[STATE_DIRECTORY_VARIABLE] = str(place / "state")
        try:
            with Session("guestsess") as made:
                group = made.group_of("left0")
                exists = group is not None and group.is_dir()
        finally:
            del os.environ[STATE_DIRECTORY_VARIABLE]
        return {
            "group": group,
            "existed": exists,
            "left": leftovers("guestsess", place / "state"),
        }


def _command(place: Path, run_id: str, iterations: int) -> tuple[str, ...]:
    scenario = place / "scenario.yaml"
    scenario.write_text(_SCENARIO.format(rate_divisor=_RATE_DIVISOR, iterations=iterations))
    output = ("-o", str(place / "out"), "--run-id", run_id, "--json")
    return (str(ROUNDELAY), "emulate", str(scenario), *output)


def _environment(place: Path) -> dict[str, str]:
    return os.environ | {STATE_DIRECTORY_VARIABLE: str(place / "state")}


def _worker_group(run_id: str) -> Path | None:
    """The cgroup of a server whose worker runs: the run is in its middle."""
    for path in cgroups("left0"):
        if run_id in str(path) and (path / "cgroup.procs").read_text().strip():
            return path
    return None


def _wait_for(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + _TIMEOUT_S
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise TimeoutError(f"waited {_TIMEOUT_S:.0f} s")
