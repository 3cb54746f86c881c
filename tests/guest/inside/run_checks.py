"""Whole runs through the command, and what is left of them."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from emulator.session import Session
from harness.cli.main import main
from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from tests.kernel.machine import cgroups, leftovers, namespaces

_FORK = multiprocessing.get_context("fork")
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
        run = _Command(place, "run", _emulation(place, "guestrun", iterations=3))
        run.join()
        return {
            "exit": run.exit,
            "said": run.said(),
            "summary": run.printed(),
            "left": leftovers("guestrun", place / "state"),
            "records": [path.name for path in place.glob("state/*")],
        }


def killed_run() -> dict[str, Any]:
    """Kill the controller in mid-run, then ``roundelay clean``.

    A process that knows nothing of the controller is put into the run's cgroup.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        run = _Command(place, "run", _emulation(place, "guestkill", iterations=1000))
        stranger = subprocess.Popen(("sleep", "600"))
        try:
            group = _wait_for(lambda: run.exit is not None or _worker_group("guestkill"))
            if run.exit is not None:
                return {"ended_early": run.said()}
            (group / "cgroup.procs").write_text(str(stranger.pid))
            run.kill()
            left_by_kill = namespaces("guestkill")
            clean = _Command(place, "clean", ("clean", "--json"))
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


def _emulation(place: Path, run_id: str, iterations: int) -> tuple[str, ...]:
    scenario = place / "scenario.yaml"
    scenario.write_text(_SCENARIO.format(rate_divisor=_RATE_DIVISOR, iterations=iterations))
    return ("emulate", str(scenario), "-o", str(place / "out"), "--run-id", run_id, "--json")


class _Command:
    """The command in a process of its own, forked: the guest needs ten seconds for its imports."""

    def __init__(self, place: Path, name: str, words: Sequence[str]) -> None:
        self._stdout, self._stderr = place / f"{name}.stdout", place / f"{name}.stderr"
        self._process = _FORK.Process(target=self._main, args=(place / "state", words))
        self._process.start()

    def _main(self, state: Path, words: Sequence[str]) -> None:
        os.environ[STATE_DIRECTORY_VARIABLE] = str(state)
        for path, descriptor in ((self._stdout, 1), (self._stderr, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
        sys.argv = ["roundelay", *words]
        main()

    @property
    def exit(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self._process.exitcode

    def join(self) -> None:
        """Wait for its end; kill it where it does not come."""
        self._process.join(_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """SIGKILL; nothing where it has ended."""
        self._process.kill()
        self._process.join()

    def said(self) -> str:
        """The end of its standard error."""
        return self._stderr.read_text()[-2000:] if self._stderr.exists() else ""

    def printed(self) -> Any:
        """The JSON document on its standard output, where it ended well."""
        return json.loads(self._stdout.read_text()) if self.exit == 0 else None


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
