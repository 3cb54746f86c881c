"""Jobs whose number of workers Pollux changes, on the real kernel, with CASSINI's choice."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from tests.kernel.command import arm, roundelay
from tests.kernel.machine import cgroups, namespaces

RUN_ID = "t3stelastic"

# Two jobs share the servers until the third comes, for which they make room.
SCENARIO = """\
name: elastic
cluster: {preset: dumbbell, servers_left: 4, servers_right: 4, rate: 50 Gbit/s}
workload:
  warmup_iterations: 1
  jobs:
    - {id: first, profile: vgg19, workers: 2, iterations: 16}
    - {id: second, profile: wideresnet101, workers: 3, iterations: 10}
    - {id: late, profile: vgg16, workers: 2, iterations: 6, start: 0.4 s}
scheduler: {placement: pollux, interleaver: cassini, round: 2 s, restart: 0.8 s}
"""
BATCHES = {"first": 32, "second": 30, "late": 12}


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("elastic")
    scenario = directory / "elastic.yaml"
    scenario.write_text(SCENARIO)
    output = directory / "out"
    done = roundelay("run", scenario, "-o", output, "--run-id", RUN_ID, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    found["directory"] = output
    return found


def iterations(summary: dict[str, Any], side: str) -> pd.DataFrame:
    rows: pd.DataFrame = pd.read_parquet(summary["directory"] / side / "iterations.parquet")
    return rows


@pytest.mark.parametrize("side", ["emulated", "simulated"])
def test_every_job_does_its_work_with_other_numbers_of_workers(
    summary: dict[str, Any], side: str
) -> None:
    rows = iterations(summary, side)
    counts = {}
    for job in BATCHES:
        own = rows[rows["job"] == job].sort_values("start_s")
        assert own["iteration"].tolist() == list(range(len(own)))
        assert (own["start_s"].to_numpy()[1:] >= own["end_s"].to_numpy()[:-1] - 1e-9).all()
        counts[job] = len(own)
    assert counts != {"first": 16, "second": 10, "late": 6}, "nobody had another number"


def test_nothing_is_missing_and_no_link_exceeds_its_rate(summary: dict[str, Any]) -> None:
    verdict = arm(summary, "elastic")["verdict"]
    assert verdict["status"] != "invalid"
    checked = {each["name"]: each for each in verdict["invariants"]}
    assert checked["completeness"]["ok"]
    assert checked["completeness"]["value"] == len(iterations(summary, "emulated"))


def test_the_schedule_is_the_predicted_one(summary: dict[str, Any]) -> None:
    found = arm(summary, "elastic")
    if found["verdict"]["status"] != "valid":
        pytest.skip("the box was disturbed")
    measured, predicted = (found["schedule"][side] for side in ("measured", "predicted"))
    assert measured["starts"] == predicted["starts"] > len(BATCHES), "nobody made room"
    assert measured["candidates"] > measured["decisions"]
    for job, completion_s in predicted["completion_s"].items():
        assert measured["completion_s"][job] == pytest.approx(completion_s, rel=0.05)


def test_a_finished_run_leaves_nothing(summary: dict[str, Any]) -> None:
    assert namespaces(RUN_ID) == []
    assert cgroups(RUN_ID) == []
