"""Whole runs through the command, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from emulator.session import Session
from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from tests.guest.inside.command import TIMEOUT_S, Command
from tests.kernel.machine import cgroups, leftovers, namespaces

_RATE_DIVISOR = 5000
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
  later:
    workload: {{iterations: 8}}
    events: [{{at: 1.2 s, link: [switch-left, switch-right], latency: 80 ms}}]
"""


def whole_run() -> dict[str, Any]:
    """``roundelay emulate`` of two jobs, to its end; in one arm a link becomes longer."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        run = Command(place, "run", _emulation(place, "guestrun", iterations=3))
        run.join()
        return {
            "exit": run.exit,
            "said": run.said(),
            "summary": run.printed(),
            "iterations": _iterations(place / "out", "later") if run.exit == 0 else [],
            "left": leftovers("guestrun", place / "state"),
            "records": [path.name for path in place.glob("state/*")],
        }


def killed_run() -> dict[str, Any]:
    """Kill the controller in mid-run, then ``roundelay clean``.

    A process that knows nothing of the controller is put into the run's cgroup.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        run = Command(place, "run", _emulation(place, "guestkill", iterations=1000))
        stranger = subprocess.Popen(("sleep", "600"))
        try:
            group = wait_for(lambda: run.exit is not None or _worker_group("guestkill"))
            if run.exit is not None:
                return {"ended_early": run.said()}
            (group / "cgroup.procs").write_text(str(stranger.pid))
            run.kill()
            left_by_kill = namespaces("guestkill")
            clean = Command(place, "clean", ("clean", "--json"))
            clean.join()
            return {
                "left_by_kill": left_by_kill,
                "exit": clean.exit,
                "said": clean.said(),
                "cleaned": clean.printed(),
                "stranger_ended": stranger.poll() == -signal.SIGKILL,
                "left": leftovers("guestkill", place / "state"),
                "records": [path.name for path in place.glob("state/*")],
            }
        finally:
            run.kill()
            stranger.kill()
            stranger.wait()


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


def _iterations(directory: Path, arm: str) -> list[dict[str, float]]:
    rows = pd.read_parquet(directory / "iterations.parquet")
    columns = rows.loc[rows["arm"] == arm, ["start_s", "end_s", "iteration_s"]]
    return [
        {"start_s": start_s, "end_s": end_s, "iteration_s": iteration_s}
        for start_s, end_s, iteration_s in columns.to_numpy().tolist()
    ]


def _emulation(place: Path, run_id: str, iterations: int) -> tuple[str, ...]:
    scenario = place / "scenario.yaml"
    scenario.write_text(_SCENARIO.format(rate_divisor=_RATE_DIVISOR, iterations=iterations))
    return ("emulate", str(scenario), "-o", str(place / "out"), "--run-id", run_id, "--json")


def _worker_group(run_id: str) -> Path | None:
    """The cgroup of a server whose worker runs: the run is in its middle."""
    for path in cgroups("left0"):
        if run_id in str(path) and (path / "cgroup.procs").read_text().strip():
            return path
    return None


def wait_for(condition: Callable[[], Any]) -> Any:
    """The first true value of ``condition``."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise TimeoutError(f"waited {TIMEOUT_S:.0f} s")
