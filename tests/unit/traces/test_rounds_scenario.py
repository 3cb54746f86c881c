"""A scenario of rounds is read whole, and told from one of jobs that share links."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import ROUNDS_SCENARIO, SCENARIO, line_of, write_scenario
from tests.unit.refusal import refusal_of
from tests.unit.traces.rounds_scenarios import (
    generated,
    models,
    read,
    scenario_of,
    write_neighbours,
)
from traces.rounds_scenario import is_rounds_scenario
from traces.scenario import load_scenario
from traces.scenario_file import ScenarioFile
from traces.sensitivity import builtin_sensitivities
from traces.server_pool import ServerGroup

ALL_KEYS = """\
name: everything
description: Every key once.
seed: 3
seeds: 2

cluster:
  servers: 4
  gpus: 2
  cpus: 9.5
  memory: 100 GB
  storage: 500 MB/s
  gpu_type: a100
  more:
    - {servers: 1, gpus: 16, cpus: 48, memory: 1 TB, storage: 1 GB/s, gpu_type: h100}
    - {servers: 3, storage: 2 GB/s}

workload:
  trace: jobs.csv
  format: synergy
  profiles: mine.json
  split: {language: 3, image: 1.5}

scheduler:
  policy: srtf
  mechanism: tune
  placement: balanced
  round: 2 min
  priority_after: 1 h

simulation:
  completion: round-end
  progress: whole-iterations
  speeds: two-point
  restart: 30 s
  checkpoint: 10 s
  restarts: all
  profiling: 1 min

measure:
  first: 7
  count: 8
  short: 90 min
"""


def test_every_key_is_read(tmp_path: Path) -> None:
    written = write_neighbours(tmp_path)
    scenario = scenario_of(tmp_path, ALL_KEYS)
    assert (scenario.name, scenario.description) == ("everything", "Every key once.")
    assert scenario.seeds == (3, 4)
    assert scenario.text == ALL_KEYS
    (arm,) = scenario.arms
    assert arm.name == "everything"
    assert arm.pool.groups == (
        ServerGroup(4, 2, 9.5, 100e9, 500e6, "a100"),
        ServerGroup(1, 16, 48.0, 1e12, 1e9, "h100"),
        ServerGroup(3, 8, 24.0, 500e9, 2e9, "v100"),
    )
    assert arm.trace_file == tmp_path / "jobs.csv"
    assert arm.workload.format == "synergy"
    assert models(arm) == written.models
    assert arm.workload.split == {"language": 3, "image": 1.5}
    assert arm.scheduler.model_dump() == {
        "policy": "srtf", "mechanism": "tune", "placement": "balanced", "round": 120.0,
        "priority_after": 3600.0,
    }  # fmt: skip
    assert arm.simulation.model_dump() == {
        "completion": "round-end", "progress": "whole-iterations", "speeds": "two-point",
        "restart": 30.0, "checkpoint": 10.0, "restarts": "all", "profiling": 60.0,
    }  # fmt: skip
    assert arm.measure.model_dump() == {"first": 7, "count": 8, "short": 5400.0}


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    text = (
        "name: least\ncluster: {servers: 3}\n"
        "workload: {generate: {jobs: 5, jobs_per_hour: 2}, split: {image: 1}}\n"
    )
    scenario = scenario_of(tmp_path, text)
    (arm,) = scenario.arms
    assert (scenario.description, scenario.seeds, arm.name) == ("", (1,), "least")
    assert arm.pool.groups == (ServerGroup(3, 8, 24.0, 500e9, None, "v100"),)
    assert models(arm) == builtin_sensitivities("synergy").models
    assert arm.trace_file is None
    assert (generated(arm).jobs_per_hour, generated(arm).gpus) == (2, "single")
    assert arm.scheduler.model_dump() == {
        "policy": "fifo", "mechanism": "proportional", "placement": None, "round": 300.0,
        "priority_after": None,
    }  # fmt: skip
    assert arm.simulation.model_dump() == {
        "completion": "exact", "progress": "continuous", "speeds": "matrix", "restart": 0.0,
        "checkpoint": 0.0, "restarts": "new-leases", "profiling": 0.0,
    }  # fmt: skip
    assert arm.measure.model_dump() == {"first": 0, "count": None, "short": 14400.0}


def test_a_trace_with_an_absolute_path_need_not_be_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    write_neighbours(tmp_path / "elsewhere")
    (tmp_path / "here").mkdir()
    file = tmp_path / "elsewhere" / "jobs.csv"
    text = f"name: far\ncluster: {{servers: 1}}\nworkload: {{trace: {file}}}\n"
    (arm,) = scenario_of(tmp_path / "here", text).arms
    assert arm.trace_file == file


@pytest.mark.parametrize(
    ("workload", "is_rounds"),
    [
        ("{trace: jobs.csv}", True),
        ("{generate: {jobs: 3}}", True),
        ("{profiles: none}", True),
        ("{split: {image: 1}}", True),
        ("{jobs: []}", False),
        ("{iterations: 3}", False),
        ("{}", False),
        ("[trace]", False),
        ("trace", False),
    ],
)
def test_the_keys_of_the_workload_say_which_kind_a_scenario_is(
    tmp_path: Path, workload: str, is_rounds: bool
) -> None:
    source = ScenarioFile.read(write_scenario(tmp_path, f"workload: {workload}\n"))
    assert is_rounds_scenario(source) is is_rounds


def test_a_file_without_a_workload_is_no_scenario_of_rounds(tmp_path: Path) -> None:
    assert not is_rounds_scenario(ScenarioFile.read(write_scenario(tmp_path, "name: x\n")))
    assert not is_rounds_scenario(ScenarioFile.read(write_scenario(tmp_path, SCENARIO)))


def test_a_scenario_of_rounds_is_no_scenario_of_jobs_that_share_links(tmp_path: Path) -> None:
    file = write_scenario(tmp_path, ROUNDS_SCENARIO)
    error = refusal_of(file, load_scenario, file)
    assert error.key == "workload"
    assert error.line == line_of(ROUNDS_SCENARIO, "workload:")
    assert "round by round" in error.problem
    assert "'jobs'" in error.allowed


def test_the_example_is_read() -> None:
    example = Path(__file__).parents[3] / "examples" / "synergy-load.yaml"
    scenario = read(example)
    assert [arm.name for arm in scenario.arms] == ["proportional", "tune", "balanced", "opt"]
    assert len(scenario.seeds) == 4
    assert {arm.pool.num_gpus for arm in scenario.arms} == {128}
