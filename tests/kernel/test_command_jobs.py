"""A job of a scenario that is the user's own program, on links it shares with replayed jobs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.kernel.command import roundelay
from tests.kernel.machine import cgroups, namespaces, processes

MB = 1e6
RUN_ID = "t3stown"

# Computes for 100 ms and then exchanges 1 MB with the other rank, as a replayed job of this profile
# does; a replayed job has as much beside its data as this one: headers of frames.
TRAINING = """
import os, socket, threading, time
from emulator.iterations import iteration_done

rank = int(os.environ["RANK"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    other, _ = socket.create_server(place).accept()
else:
    while True:
        try:
            other = socket.create_connection(place)
            break
        except OSError:
            time.sleep(0.05)
data = bytes(1_000_000)
while True:
    time.sleep(0.1)
    sending = threading.Thread(target=other.sendall, args=(data,))
    sending.start()
    left = len(data)
    while left:
        left -= len(other.recv(min(left, 65536)))
    sending.join()
    iteration_done()
"""
PROFILE = {
    "schema_version": 1,
    "model": "toy",
    "num_gpus": 2,
    "provenance": "reconstructed",
    "source": "the script beside it",
    "demand": {
        "compute_s": 0.1,
        "transfers": [{"ready_s": 0.1, "bytes": 1e6 * 1514 / 1448}],
    },
}
SCENARIO = """\
name: own
cluster: {preset: dumbbell, servers_left: 2, servers_right: 2, rate: 100 Mbit/s}
workload:
  iterations: 12
  warmup_iterations: 2
  jobs:
    - {id: own, profile: toy.json, servers: [left0, right0], command: COMMAND}
    - {id: replayed, profile: toy.json, servers: [left1, right1]}
arms:
  together: {}
  shifted: {scheduler: {interleaver: cassini}}
"""


def write(directory: Path, script: str = TRAINING, text: str = SCENARIO) -> Path:
    (directory / "train.py").write_text(script)
    (directory / "toy.json").write_text(json.dumps(PROFILE))
    scenario = directory / "own.yaml"
    scenario.write_text(text.replace("COMMAND", json.dumps([sys.executable, "train.py"])))
    return scenario


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("own")
    done = roundelay("run", write(directory), "-o", directory / "out", "--run-id", RUN_ID, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    found["directory"] = directory / "out"
    return found


def test_it_does_its_iterations_on_links_of_the_rate_that_they_have(
    summary: dict[str, Any],
) -> None:
    links = pd.read_parquet(summary["directory"] / "emulated" / "links.parquet")
    assert (links.capacity_bps == 100e6).all()
    iterations = pd.read_parquet(summary["directory"] / "emulated" / "iterations.parquet")
    counts = iterations.groupby(["arm", "job"]).size()
    assert (counts == 14).all()
    assert len(counts) == 4


def test_its_traffic_is_its_own_class_at_every_port(summary: dict[str, Any]) -> None:
    links = pd.read_parquet(summary["directory"] / "emulated" / "links.parquet")
    middle = links[(links.arm == "together") & (links.port == "switch-left->switch-right")]
    sent = {}
    for job, rows in middle.groupby("job"):
        lengths_s = rows.t_s.diff().fillna(0.0)
        sent[job] = float((rows.rate_bps * lengths_s).sum() / 8)
    assert sent["own"] == pytest.approx(sent["replayed"], rel=0.02)
    assert sent["own"] > 14 * MB


@pytest.mark.usefixtures("summary")
def test_nothing_is_left() -> None:
    assert (namespaces(RUN_ID), cgroups(RUN_ID), processes("train.py")) == ([], [], [])


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("raise SystemExit(3)", "ended with status 3"),
        ("raise ValueError('no such layer')", "ValueError: no such layer"),
        ("import os; os.kill(os.getpid(), 9)", "ended with status -9"),
    ],
    ids=["ends", "fails", "is killed"],
)
def test_one_that_ends_early_is_an_error_that_says_so(
    tmp_path: Path, script: str, words: str
) -> None:
    done = roundelay("emulate", write(tmp_path, script), "-o", tmp_path / "out")
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_one_that_does_not_exist_is_named(tmp_path: Path) -> None:
    scenario = write(tmp_path)
    scenario.write_text(SCENARIO.replace("COMMAND", '["no-such-program"]'))
    done = roundelay("emulate", scenario, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "no-such-program" in done.stderr


def test_its_bytes_are_not_divided(tmp_path: Path) -> None:
    scenario = write(tmp_path, text=SCENARIO + "scale: {rate_divisor: 10}\n")
    done = roundelay("emulate", scenario, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "scale.rate_divisor" in done.stderr
