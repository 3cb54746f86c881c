"""Placed jobs whose input pipelines are held to the CPUs that a mechanism gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.kernel.command import arm, roundelay, trusted_run
from tests.kernel.machine import cgroups, namespaces

RUN_ID = "t3stcpus"

# On each server two workers of a guest stand beside one of the image job. Everybody wants more than
# the three CPUs of a GPU; the image job has them once the guests have ended.
SCENARIO = """\
name: divided
cluster:
  {preset: single-switch, servers: 3, rate: 50 Gbit/s, gpus: 3, cpus: 9, memory: 187.5 GB}
workload:
  warmup_iterations: 1
  jobs:
    - {id: guest-0, profile: vgg16, workers: 2, input_pipeline: mobilenet, iterations: 12}
    - {id: guest-1, profile: vgg16, workers: 2, input_pipeline: mobilenet, iterations: 12}
    - {id: guest-2, profile: vgg16, workers: 2, input_pipeline: mobilenet, iterations: 12}
    - id: image
      profile: vgg16
      batch_per_gpu: 96
      workers: 3
      input_pipeline: res18
      iterations: 16
scheduler: {placement: themis, mechanism: tune, round: 1.5 s, restart: 0.7 s}
"""
JOBS = ("guest-0", "guest-1", "guest-2", "image")
COMPUTE_S, STALLED, WITH_ITS_WISH_S = 0.1632, 2.4, 0.2813
"""Of the image job: compute; with 3 CPUs the published profile is 2.4 times slower than at best;
with 5 it waits for its transfers alone."""


def write(directory: Path, text: str = SCENARIO) -> Path:
    file = directory / "divided.yaml"
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("divided")
    found = trusted_run(write(directory), directory, "--run-id", RUN_ID)
    found["directory"] = max(directory.glob("run-*"))
    return found


def lengths_s(summary: dict[str, Any], side: str, job: str) -> list[float]:
    rows = pd.read_parquet(summary["directory"] / side / "iterations.parquet")
    own = rows[rows["job"] == job].sort_values("start_s")
    return [float(length) for length in own["end_s"] - own["start_s"]]


def schedule_of(summary: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = arm(summary, "divided")["schedule"]
    return found


@pytest.mark.parametrize("side", ["emulated", "simulated"])
def test_an_iteration_lasts_as_long_as_its_samples_take(summary: dict[str, Any], side: str) -> None:
    """Nothing tells the emulated worker how long: its loader's quota does."""
    lengths = lengths_s(summary, side, "image")
    assert np.median(lengths[1:6]) == pytest.approx(STALLED * COMPUTE_S, rel=0.02)


@pytest.mark.parametrize("side", ["emulated", "simulated"])
def test_cpus_that_become_free_end_the_wait(summary: dict[str, Any], side: str) -> None:
    lengths = lengths_s(summary, side, "image")
    assert np.median(lengths[-5:]) == pytest.approx(WITH_ITS_WISH_S, rel=0.02)


def test_both_sides_give_the_same_shares_and_start_every_job_once(
    summary: dict[str, Any],
) -> None:
    schedule = schedule_of(summary)
    assert schedule["mechanism"] == "tune"
    assert schedule["measured"]["shares"] == schedule["predicted"]["shares"]
    assert schedule["measured"]["starts"] == len(JOBS)
    assert [share["cpus"] for share in schedule["measured"]["shares"]["image"]] == [3.0, 5.0]


def test_the_simulator_predicts_when_jobs_end(summary: dict[str, Any]) -> None:
    schedule = schedule_of(summary)
    for job, predicted_s in schedule["predicted"]["completion_s"].items():
        assert schedule["measured"]["completion_s"][job] == pytest.approx(predicted_s, rel=0.03)


def test_pipelines_use_the_cpu_that_they_are_allowed_and_no_more(summary: dict[str, Any]) -> None:
    verdict = arm(summary, "divided")["verdict"]
    checked = {each["name"]: each for each in verdict["invariants"]}
    assert checked["CPU quotas"]["ok"]
    assert any("memory is divided and not limited" in clause for clause in verdict["unenforced"])
    use = schedule_of(summary)["cpu_use"]
    assert set(use) == set(JOBS)
    # From its end to the end of the round a job's pipeline stands still.
    assert all(0.4 < each["used_s"] / each["allowed_s"] <= 1.05 for each in use.values())


def test_the_report_and_the_plan_tell_of_the_cpus(summary: dict[str, Any], tmp_path: Path) -> None:
    report = (summary["directory"] / "report.html").read_text()
    assert "CPUs of each worker" in report
    assert "of a core of this machine" in report
    planned = roundelay("plan", write(tmp_path), "--run-id", RUN_ID)
    assert planned.returncode == 0, planned.stderr
    assert "# a GPU's share: 3 CPUs, 62.5 GB" in planned.stdout
    assert "of a core, where a mechanism divides them" in planned.stdout


def test_a_finished_run_leaves_nothing(summary: dict[str, Any]) -> None:
    assert namespaces(RUN_ID) == []
    assert cgroups(RUN_ID) == []


def test_a_pipeline_that_would_read_is_refused_with_its_line(tmp_path: Path) -> None:
    text = SCENARIO.replace("input_pipeline: res18", "input_pipeline: m5")
    refused = roundelay("emulate", write(tmp_path, text), "-o", tmp_path / "out")
    assert refused.returncode == 2
    assert "divided.yaml:14: workload.jobs.3.input_pipeline" in refused.stderr
    assert "what placed jobs read is not emulated" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_without_root_it_says_what_is_missing(tmp_path: Path) -> None:
    refused = roundelay("emulate", write(tmp_path), "-o", tmp_path / "out", "--rootless")
    assert refused.returncode == 3
    assert "shares of CPUs cannot be kept here" in refused.stderr
    assert "run as root outside a user namespace" in refused.stderr
