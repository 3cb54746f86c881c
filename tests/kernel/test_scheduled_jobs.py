"""Jobs that a scheduler places on the real kernel: they come, share links, make room, and end."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.kernel.command import arm, roundelay, start, wait_until
from tests.kernel.machine import cgroups, leftovers, namespaces

RUN_ID = "t3stjobs"
NOTHING: dict[str, object] = {"namespaces": [], "cgroups": [], "processes": [], "files": []}

# Two jobs fill the servers, with two workers on one and the third beside the other job's. The third
# job comes while they run, and is so short that one of them has to make room for it.
SCENARIO = """\
name: jobs
cluster: {preset: single-switch, servers: 3, rate: 50 Gbit/s, gpus: 2}
workload:
  iterations: 4
  warmup_iterations: 1
  jobs:
    - {id: first, profile: vgg19, workers: 3}
    - {id: second, profile: vgg19, workers: 3}
    - {id: late, profile: vgg19, workers: 3, start: 0.4 s, iterations: 2}
scheduler: {placement: themis, round: 1.5 s, restart: 0.5 s}
arms:
  alike: {}
  interleaved: {scheduler: {interleaver: cassini}}
"""
ITERATIONS = {"first": 5, "second": 5, "late": 2}
ARMS = ("alike", "interleaved")


def write(directory: Path, text: str = SCENARIO) -> Path:
    scenario = directory / "jobs.yaml"
    scenario.write_text(text)
    return scenario


def longer(directory: Path) -> Path:
    """One arm that does not end by itself."""
    one_arm = SCENARIO.partition("arms:")[0]
    return write(directory, one_arm.replace("iterations: 4\n", "iterations: 400\n"))


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("jobs")
    output = directory / "out"
    done = roundelay("run", write(directory), "-o", output, "--run-id", RUN_ID, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    found["directory"] = output
    return found


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("side", ["emulated", "simulated"])
def test_every_iteration_of_every_job_is_done_once(
    summary: dict[str, Any], name: str, side: str
) -> None:
    rows = pd.read_parquet(summary["directory"] / side / "iterations.parquet")
    for job, wanted in ITERATIONS.items():
        own = rows[(rows["arm"] == name) & (rows["job"] == job)].sort_values("start_s")
        assert own["iteration"].tolist() == list(range(wanted))
        assert (own["start_s"].to_numpy()[1:] >= own["end_s"].to_numpy()[:-1] - 1e-9).all()


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("side", ["measured", "predicted"])
def test_jobs_arrive_make_room_and_end(summary: dict[str, Any], name: str, side: str) -> None:
    schedule = arm(summary, name)["schedule"][side]
    assert schedule["starts"] > len(ITERATIONS), "nobody made room"
    assert schedule["decisions"] >= 2
    assert all(completion_s > 0 for completion_s in schedule["completion_s"].values())
    assert (schedule["candidates"] > 0) == (name == "interleaved")


def test_a_job_begins_after_the_round_that_follows_its_arrival(summary: dict[str, Any]) -> None:
    for side in ("emulated", "simulated"):
        rows = pd.read_parquet(summary["directory"] / side / "iterations.parquet")
        assert (rows[rows["job"] == "late"]["start_s"] >= 2.0 - 1e-6).all()
        assert rows["start_s"].min() >= 0.5 - 1e-6


def test_no_byte_is_lost_and_no_link_exceeds_its_rate(summary: dict[str, Any]) -> None:
    for name in ARMS:
        verdict = arm(summary, name)["verdict"]
        assert verdict["status"] != "invalid"
        checked = {each["name"]: each for each in verdict["invariants"]}
        assert checked["completeness"]["ok"]
        assert checked["completeness"]["value"] == sum(ITERATIONS.values())
        kept = [each for each in verdict["invariants"] if each["on_failure"] == "invalid"]
        assert kept
        assert all(each["ok"] for each in kept)


def test_links_are_loaded_by_the_jobs_that_use_them(summary: dict[str, Any]) -> None:
    links = pd.read_parquet(summary["directory"] / "emulated" / "links.parquet")
    busy = links[links["rate_bps"] > 1e9]
    assert set(busy["job"]) == set(ITERATIONS)
    meeting = busy.groupby(["arm", "port"])["job"].nunique()
    assert (meeting.groupby("arm").max() >= 2).all()


def test_the_simulator_predicts_the_schedule(summary: dict[str, Any]) -> None:
    for name in ARMS:
        found = arm(summary, name)
        if found["verdict"]["status"] != "valid":
            pytest.skip("the box was disturbed")
        measured, predicted = (found["schedule"][side] for side in ("measured", "predicted"))
        assert measured["starts"] == predicted["starts"]
        for job, completion_s in predicted["completion_s"].items():
            assert measured["completion_s"][job] == pytest.approx(completion_s, rel=0.05)


def test_the_report_tells_of_the_schedule(summary: dict[str, Any]) -> None:
    page = (summary["directory"] / "report.html").read_text()
    assert "Completion times by arm" in page
    assert "placed by themis" in page


def test_a_finished_run_leaves_nothing(summary: dict[str, Any]) -> None:
    assert namespaces(RUN_ID) == []
    assert cgroups(RUN_ID) == []


def _worker_of_first() -> int | None:
    for group in cgroups("n0-first"):
        if RUN_ID in str(group) and (group / "cgroup.procs").exists():
            for line in (group / "cgroup.procs").read_text().split():
                return int(line)
    return None


def test_a_worker_that_dies_ends_the_run_with_one_line(
    tmp_path: Path, state_directory: Path
) -> None:
    run = start("emulate", longer(tmp_path), "-o", tmp_path / "out", "--run-id", RUN_ID)
    victim = wait_until(_worker_of_first, "a worker")
    os.kill(victim, signal.SIGKILL)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1
    assert "a worker" in said.strip().splitlines()[-1]
    assert "Traceback" not in said
    assert leftovers(RUN_ID, state_directory) == NOTHING


def test_an_interrupt_ends_with_the_iterations_under_way_and_keeps_what_was_done(
    tmp_path: Path, state_directory: Path
) -> None:
    """The round would go on for minutes."""
    scenario = longer(tmp_path)
    scenario.write_text(scenario.read_text().replace("round: 1.5 s", "round: 300 s"))
    run = start("emulate", scenario, "-o", tmp_path / "out", "--run-id", RUN_ID, "--json")
    wait_until(_worker_of_first, "a worker")
    run.send_signal(signal.SIGINT)
    printed, said = run.communicate(timeout=60)
    assert run.returncode == 130, said
    assert "stopping after the iterations under way" in said
    (found,) = json.loads(printed)["arms"]
    assert found["interrupted"]
    assert found["schedule"]["measured"]["starts"] == 2
    assert set(found["schedule"]["measured"]["completion_s"].values()) == {None}
    rows = pd.read_parquet(tmp_path / "out" / "iterations.parquet")
    assert set(rows["job"]) == {"first", "second"}
    assert rows["end_s"].max() < 300.0
    assert leftovers(RUN_ID, state_directory) == NOTHING
