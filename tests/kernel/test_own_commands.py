"""A user's own command in the place of a replayed job: held, stopped, moved, counted like one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.rounds.lease import JobState
from tests.kernel.emulated_cluster import cluster, lease

STRIDE = 30.0
MOST_ROUNDS = 30

TRAINING = """
import os, sys, time
from emulator.iterations import first_iteration, iteration_done
with open(sys.argv[1], "a") as log:
    print("from", first_iteration(), "rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"],
          "at", os.environ["MASTER_ADDR"], file=log, flush=True)
    while True:
        time.sleep(0.02)
        iteration_done()
        print(time.monotonic(), file=log, flush=True)
"""


def script(directory: Path, text: str) -> tuple[str, ...]:
    """The command line of a Python script."""
    file = directory / "train.py"
    file.write_text(text)
    return (sys.executable, str(file), str(directory / "log"))


def times_s(directory: Path) -> list[float]:
    """When the script said that it had done an iteration."""
    lines = (directory / "log").read_text().splitlines()
    return [float(line) for line in lines if not line.startswith("from")]


def test_its_iterations_are_counted_and_none_is_done_between_rounds(tmp_path: Path) -> None:
    command = script(tmp_path, TRAINING)
    with cluster("own1", stride=STRIDE) as run:
        first = run.servers.run_round(0, [lease("a1", 0, command=command, new=True)])
        stopped = len(times_s(tmp_path))
        done = first.progress["a1"].iterations
        assert first.progress["a1"].state is JobState.RUNNING
        assert done > 0
        # One that it was about to report when it was stopped is reported in the next round.
        assert stopped - 1 <= done / STRIDE <= stopped
        assert len(times_s(tmp_path)) == stopped, "it goes on while it should stand still"
        second = run.servers.run_round(1, [lease("a1", 0, command=command, left=1e6 - done)])
        total = (done + second.progress["a1"].iterations) / STRIDE
        assert total == pytest.approx(len(times_s(tmp_path)), abs=1)


def test_it_knows_its_rank_and_where_it_goes_on(tmp_path: Path) -> None:
    command = script(tmp_path, TRAINING)
    with cluster("own2", stride=STRIDE) as run:
        for number, (server, done) in enumerate(((0, 0.0), (0, 0.0), (1, 600.0), (1, 600.0))):
            new = number in (0, 2)
            held = lease("a1", server, command=command, done=done, cpus=8.0, new=new)
            run.servers.run_round(number, [held])
    starts = [
        line.split() for line in (tmp_path / "log").read_text().splitlines() if "from" in line
    ]
    assert [start[1] for start in starts] == ["0", "600"]
    assert {start[3] for start in starts} == {"0"}
    assert {start[5] for start in starts} == {"1"}


def test_it_is_ended_when_its_iterations_are_done(tmp_path: Path) -> None:
    command = script(tmp_path, TRAINING)
    with cluster("own3", stride=STRIDE) as run:
        held = lease("a1", 0, command=command, left=5 * STRIDE, cpus=8.0, new=True)
        outcome = run.servers.run_round(0, [held])
        assert outcome.progress["a1"].state is JobState.FINISHED
        assert outcome.progress["a1"].iterations == 5 * STRIDE
        ran = len(times_s(tmp_path))
        run.servers.run_round(1, [])
        assert len(times_s(tmp_path)) <= ran + 1


def test_one_that_fails_is_reported_with_what_it_said(tmp_path: Path) -> None:
    command = script(tmp_path, "raise SystemExit('no such dataset')")
    with cluster("own4") as run:
        outcome = run.servers.run_round(0, [lease("a1", 0, command=command, new=True)])
    assert outcome.progress["a1"].state is JobState.FAILED
    assert "ended with 1" in outcome.progress["a1"].reason
    assert "no such dataset" in outcome.progress["a1"].reason


def test_one_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with cluster("own5") as run:
        command = (str(tmp_path / "nothing"),)
        outcome = run.servers.run_round(0, [lease("a1", 0, command=command, new=True)])
    assert outcome.progress["a1"].state is JobState.FAILED
    assert "No such file" in outcome.progress["a1"].reason


def test_one_that_takes_too_much_memory_ends_and_no_other(tmp_path: Path) -> None:
    greedy = script(tmp_path, "import time\nheld = b'x' * 2**31\ntime.sleep(60)\n")
    with cluster("own6") as run:
        held = lease("a1", 0, command=greedy, memory_bytes=2e9, cpus=8.0, new=True)
        outcome = run.servers.run_round(0, [held, lease("b2", 1, new=True)])
        held, other = replace(held, is_new=False), lease("b2", 1)
        number = 1
        while outcome.progress["a1"].state is JobState.RUNNING and number < MOST_ROUNDS:
            outcome = run.servers.run_round(number, [held, other])  # still filling its memory
            number += 1
    assert outcome.progress["a1"].state is JobState.OUT_OF_MEMORY
    assert outcome.progress["b2"].state is JobState.RUNNING
