"""Emulated rounds on real workers: limits, faults, and a controller that is killed.

One cluster for all of it, since starting one takes the guest longer than a round.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from dataclasses import asdict, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

from emulator.cgroups import processes_in
from emulator.rounds import worker_starter
from emulator.rounds.lease import Lease, RoundOutcome
from emulator.rounds.run import EmulatedRun
from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from tests.guest.inside.command import TIMEOUT_S, Command
from tests.guest.inside.limit_checks import handed_on_now
from tests.guest.inside.run_checks import wait_for
from tests.kernel.emulated_cluster import READING, cluster, lease
from tests.kernel.machine import cgroups, leftovers, namespaces
from traces.stage_costs import StageCosts

_RUN_ID = "guestrounds"
_ROUND_S = 150.0  # five seconds on the wall: a guest's processes wake late
_CHECKOUT = Path(__file__).parents[3]
_FORK = multiprocessing.get_context("fork")

_PREPARING = StageCosts(gpu_s=0.25, cpu_s=1.0)
_CACHING = replace(READING, read_bytes=200e6, dataset_bytes=80e9)
_SPIN = """\
from emulator.iterations import iteration_done
while True:
    sum(range(10_000))
    iteration_done()
"""
_SPINNING = (sys.executable, "-S", "-c", _SPIN)  # looking through site-packages takes seconds
_GREEDY = ("dd", "if=/dev/zero", "of=/dev/null", "bs=1G")

_LITTLE_BYTES = 2**19
"""Beside a cache: less than the data that a pipeline has in hand."""


def emulated_rounds() -> dict[str, Any]:
    """Rounds of one cluster, kill -9 of its controller in the last one, and ``roundelay clean``."""
    handed_on_before = handed_on_now()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        receiving, sending = _FORK.Pipe(duplex=False)
        controller = _FORK.Process(target=_control, args=(place / "state", sending))
        controller.start()
        sending.close()
        try:
            if not receiving.poll(TIMEOUT_S):
                raise TimeoutError(f"the rounds took more than {TIMEOUT_S:.0f} s")
            seen: dict[str, Any] = json.loads(receiving.recv_bytes())
            if "raised" in seen:
                raise RuntimeError(seen["raised"])
            wait_for(lambda: any(map(processes_in, cgroups("job1-server0"))))
        finally:
            controller.kill()
            controller.join()
        left_by_kill = {"namespaces": namespaces(_RUN_ID), "cgroups": cgroups("job1-server0")}
        clean = Command(place, "clean", ("clean", "--json"))
        clean.join()
        return {
            **seen,
            "left_by_kill": left_by_kill,
            "exit": clean.exit,
            "said": clean.said(),
            "left": leftovers(_RUN_ID, place / "state"),
            "handed_on_as_before": handed_on_now() == handed_on_before,
        }


def _control(state: Path, sending: Connection) -> None:
    """The controller; its last round does not come to an end, for it is killed there."""
    os.environ[STATE_DIRECTORY_VARIABLE] = str(state)
    try:
        with cluster(_RUN_ID, gpus=4, round_s=_ROUND_S, directory=_CHECKOUT) as run:
            seen = _rounds(run)
            sending.send_bytes(json.dumps(seen).encode())
            run.run_round(len(seen["rounds"]), [lease("a1", 0, new=True)])
    except BaseException:
        sending.send_bytes(json.dumps({"raised": traceback.format_exc()}).encode())


def _rounds(run: EmulatedRun) -> dict[str, Any]:
    """Four rounds, each with something else to withstand, and the verdict on them."""
    run_group = run.session.cgroup
    assert run_group is not None
    groups = {name: run_group / name for name in ("job1-server0", "job2-server1", "job3-server1")}

    spinning = lease("c3", 1, cpus=20.0, command=_SPINNING, new=True)
    greedy = lease("d4", 0, cpus=8.0, memory_bytes=1e9, command=_GREEDY, new=True)
    caching = lease("e5", 0, cpus=8.0, stages=_CACHING, new=True)
    with patch.object(worker_starter, "GUARD_BYTES", _LITTLE_BYTES):
        rounds = [run.run_round(0, [spinning, greedy, caching])]

    preparing = lease("a1", 0, stages=_PREPARING, new=True)
    reading = lease("b2", 1, stages=READING, new=True)
    spinning = lease("c3", 1, cpus=4.0, command=_SPINNING, new=True)
    rounds.append(run.run_round(1, [preparing, reading, spinning]))
    limits = [_limits(run_group)]
    workers = [processes_in(groups["job1-server0"])]

    for pid in processes_in(groups["job2-server1"]):
        os.kill(pid, signal.SIGKILL)
    spinning = _extended(spinning)
    rounds.append(run.run_round(2, [_extended(preparing), _extended(reading), spinning]))

    (groups["job3-server1"] / "cgroup.kill").write_text("1")
    preparing = lease("a1", 0, stages=_PREPARING, cpus=4.0, new=True)
    rounds.append(run.run_round(3, [preparing, reading, spinning]))
    limits.append(_limits(run_group))
    workers.append(processes_in(groups["job1-server0"]))
    return {
        "rounds": [_described(outcome) for outcome in rounds],
        "limits": limits,
        "workers": workers,
        "verdict": asdict(run.finish().verdict),
    }


def _extended(held: Lease) -> Lease:
    return replace(held, is_new=False)


def _described(outcome: RoundOutcome) -> dict[str, Any]:
    return {job: asdict(progress) for job, progress in outcome.progress.items()}


def _limits(run_group: Path) -> dict[str, dict[str, str]]:
    """By group of an input pipeline or a command, what the kernel holds it to."""
    files = ("cpu.max", "memory.max")
    return {
        group.name: {name: (group / name).read_text().strip() for name in files}
        for group in run_group.glob("*-loader")
    }
