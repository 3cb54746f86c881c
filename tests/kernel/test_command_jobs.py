"""A job of a scenario that is the user's own program, on links it shares with replayed jobs."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.kernel.command import roundelay, start, wait_until
from tests.kernel.command_job import BYTES, TRAINING
from tests.kernel.machine import cgroups, namespaces, processes
from tests.kernel.unprivileged import USER

MB = 1e6
RUN_ID = "t3stown"
SCRIPT = "own_job.py"
"""No other test, which may run beside these, names its own so."""

# Rank 0 fails in its third iteration, and rank 1 hangs in it.
FAILING = """
import os, time
from emulator.iterations import iteration_done

for number in range(3):
    print(f"iteration {number} of rank {os.environ['RANK']}")
    iteration_done()
if os.environ["RANK"] == "0":
    print("x" * 200_000)
    raise ValueError("no such layer")
time.sleep(600)
"""
PROFILE = {
    "schema_version": 1,
    "model": "toy",
    "num_gpus": 2,
    "provenance": "reconstructed",
    "source": "the script beside it",
    "demand": {
        "compute_s": 0.1,
        "transfers": [{"ready_s": 0.1, "bytes": BYTES}],
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
    (directory / SCRIPT).write_text(script)
    (directory / "toy.json").write_text(json.dumps(PROFILE))
    scenario = directory / "own.yaml"
    scenario.write_text(text.replace("COMMAND", json.dumps([sys.executable, SCRIPT])))
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


def test_what_it_wrote_is_kept_by_arm_and_server(summary: dict[str, Any]) -> None:
    logs = summary["directory"] / "emulated" / "logs"
    files = sorted(str(file.relative_to(logs)) for file in logs.rglob("*.log"))
    assert files == [
        f"{arm}/own.{server}.log"
        for arm in ("shifted", "together")
        for server in ("left0", "right0")
    ]
    for file in files:
        rank = 0 if "left" in file else 1
        assert (logs / file).read_text().splitlines() == [f"rank {rank} is done"] * 15


def test_one_that_fails_in_its_iterations_leaves_what_all_of_it_wrote(tmp_path: Path) -> None:
    done = roundelay("emulate", write(tmp_path, FAILING), "-o", tmp_path / "out")
    logs = tmp_path / "out" / "logs" / "together"
    assert done.returncode == 1
    assert "; it last wrote: ValueError: no such layer; all that it wrote is in" in done.stderr
    assert f"{logs / 'own.left0.log'}\n" in done.stderr
    words = (logs / "own.left0.log").read_text().splitlines()
    assert words[:3] == [f"iteration {number} of rank 0" for number in range(3)]
    assert words[3] == "x" * 200_000
    assert words[-1] == "ValueError: no such layer"
    other = (logs / "own.right0.log").read_text().splitlines()
    assert other == [f"iteration {number} of rank 1" for number in range(3)]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["interrupted"]


def test_an_interrupt_keeps_what_it_wrote(tmp_path: Path) -> None:
    text = SCENARIO.replace("iterations: 12", "iterations: 1000")
    output = tmp_path / "out"
    run = start("emulate", write(tmp_path, text=text), "-o", output)
    log = output / "logs" / "together" / "own.left0.log"
    wait_until(lambda: log.exists() and log.read_text().count("\n") > 5, "some iterations")
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130, said
    assert f"what the commands wrote: {output / 'logs'}\n" in said
    iterations = pd.read_parquet(output / "iterations.parquet")
    done = 1 + int((iterations.job == "own").sum())  # the first one is before the run
    assert log.read_text().splitlines() == ["rank 0 is done"] * done


def test_under_sudo_what_it_wrote_belongs_to_who_called(tmp_path: Path) -> None:
    scenario = write(tmp_path)
    command = json.dumps(["/bin/sh", "-c", "id -u; echo no such layer >&2; exit 3"])
    scenario.write_text(SCENARIO.replace("COMMAND", command))
    environment = {**os.environ, "SUDO_UID": str(USER), "SUDO_GID": str(USER)}
    done = roundelay("emulate", scenario, "-o", tmp_path / "out", environment=environment)
    assert done.returncode == 1
    assert "ended with status 3 before it was done; it last wrote: no such layer" in done.stderr
    logs = tmp_path / "out" / "logs"
    assert {(path.stat().st_uid, path.stat().st_gid) for path in logs.rglob("*")} == {(USER, USER)}
    files = [logs / "together" / f"own.{server}.log" for server in ("left0", "right0")]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    whole = f"{USER}\nno such layer\n"
    # The first that ends ends the run, and with it the other one, however far it is.
    texts = [file.read_text() for file in files]
    assert whole in texts
    assert all(whole.startswith(text) for text in texts)


@pytest.mark.usefixtures("summary")
def test_nothing_is_left() -> None:
    assert (namespaces(RUN_ID), cgroups(RUN_ID), processes(SCRIPT)) == ([], [], [])


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("raise SystemExit(3)", "ended with status 3"),
        ("raise ValueError('no such layer')", "ValueError: no such layer; all that it wrote is in"),
        ("import nowhere", "No module named 'nowhere'; pip install nowhere; all that it wrote"),
        ("import os; os.kill(os.getpid(), 9)", "ended with status -9"),
    ],
    ids=["ends", "fails", "lacks a module", "is killed"],
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
