"""Processes that race for one run id: one gets it, and the others fail without a trace."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path

from emulator.clean import clean_run
from netshaper.run_state import RunState, load_state
from tests.kernel.command import short_example, start
from tests.kernel.machine import leftovers
from traces.errors import EmulationError

RUN_ID = "t3strace"
NOTHING: dict[str, object] = {"namespaces": [], "cgroups": [], "processes": [], "files": []}
ROUNDS = 40
RACERS = 3


def test_two_commands_that_race_for_a_run_id(tmp_path: Path, state_directory: Path) -> None:
    scenario = short_example(tmp_path, iterations=100)
    outputs = [tmp_path / "one", tmp_path / "two"]
    racers = [start("emulate", scenario, "-o", each, "--run-id", RUN_ID) for each in outputs]
    while all(racer.poll() is None for racer in racers):
        time.sleep(0.01)
    lost = next(number for number, racer in enumerate(racers) if racer.poll() is not None)
    _, said = racers[lost].communicate(timeout=60)
    assert racers[lost].returncode == 1, said
    assert said.count("\n") == 1
    assert f"the run id {RUN_ID} is in use" in said
    assert not outputs[lost].exists()

    won = racers[1 - lost]
    assert won.poll() is None
    assert load_state(state_directory / RUN_ID).owner.pid == won.pid
    won.send_signal(signal.SIGINT)
    _, said = won.communicate(timeout=60)
    assert won.returncode == 130, said
    assert leftovers(RUN_ID, state_directory) == NOTHING


def _claim(together: Barrier, winners: SimpleQueue[int | None]) -> None:
    together.wait(timeout=30)
    try:
        RunState.create(RUN_ID)
    except EmulationError:
        winners.put(None)
    else:
        winners.put(os.getpid())


def test_a_run_id_that_is_claimed_at_one_instant_goes_to_one(state_directory: Path) -> None:
    fork = multiprocessing.get_context("fork")
    for _ in range(ROUNDS):
        together = fork.Barrier(RACERS)
        winners: SimpleQueue[int | None] = fork.SimpleQueue()
        racers = [fork.Process(target=_claim, args=(together, winners)) for _ in range(RACERS)]
        for racer in racers:
            racer.start()
        won = [pid for _ in racers if (pid := winners.get()) is not None]
        for racer in racers:
            racer.join()
        assert [path.name for path in state_directory.iterdir()] == [RUN_ID]
        record = json.loads((state_directory / RUN_ID / "record.json").read_text())
        assert [record["owner"]["pid"]] == won
        clean_run(load_state(state_directory / RUN_ID))
    assert not state_directory.exists()
