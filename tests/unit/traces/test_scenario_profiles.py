"""The profiles of a scenario's jobs: by name, from a file, or as they were measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.builders import SCENARIO, edited, line_of, make_profile, write_scenario
from tests.unit.traces.scenarios import JOB_B, refusal
from traces.errors import BadInputError
from traces.model_profile import write_profile
from traces.scenario import load_scenario


def with_profile_file(name: str) -> str:
    return edited(SCENARIO, f"profile: vgg19\n      {JOB_B}", f"profile: {name}\n      {JOB_B}")


def test_a_profile_may_be_a_file_beside_the_scenario(tmp_path: Path) -> None:
    write_profile(make_profile(model="mine"), tmp_path / "mine.json")
    scenario = load_scenario(write_scenario(tmp_path, with_profile_file("mine.json")))
    assert [job.profile.model for job in scenario.arms[0].jobs] == ["vgg19", "mine"]


def test_an_unknown_profile_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    text = with_profile_file("vgg20")
    error = refusal(tmp_path, text)
    assert error.key == "workload.jobs.1.profile"
    assert error.line == line_of(text, "vgg20")
    assert "vgg16, vgg19, wideresnet101, xlm, or the path of a profile" in error.allowed


def test_a_profile_for_another_number_of_workers_is_refused(tmp_path: Path) -> None:
    write_profile(make_profile(workers=3), tmp_path / "three.json")
    text = with_profile_file("three.json")
    error = refusal(tmp_path, text)
    assert error.key == "workload.jobs.1.servers"
    assert error.line == line_of(text, JOB_B)
    assert error.problem.startswith("2 servers for a profile of 3 workers")
    assert error.allowed == "3 servers"


MANY_MODELS = """\
name: many-models
cluster: {preset: single-switch, servers: 8, rate: 50 Gbit/s}
workload:
  jobs:
    - {id: a, profile: gpt3, servers: [server0, server1, server2, server3], batch_per_gpu: 4}
    - {id: b, profile: bert, servers: [server4, server5]}
"""


def test_a_job_may_say_its_batch(tmp_path: Path) -> None:
    (arm,) = load_scenario(write_scenario(tmp_path, MANY_MODELS)).arms
    profiles = [job.profile for job in arm.jobs]
    assert [profile.model for profile in profiles] == ["gpt3", "bert"]
    assert [profile.batch_size for profile in profiles] == [4 * 4, 2 * 16]
    assert len(arm.jobs[0].connections) == 8  # among parts and among stages, in both directions
    assert arm.warnings == ()


@pytest.mark.parametrize(
    ("old", "new", "key", "problem", "allowed"),
    [
        ("batch_per_gpu: 4", "batch_per_gpu: 0", "0.batch_per_gpu", "0 is not", "equal to 1"),
        ("batch_per_gpu: 4", "batch_per_gpu: 49", "0.batch_per_gpu", "of 49 a GPU", "1 to 48"),
        ("batch_per_gpu: 4", "batch_per_gpu: 4.5", "0.batch_per_gpu", "4.5", "integer"),
        ("profile: bert", "profile: gpt3", "1.servers", "over 2 workers", "4, 8, 12, 16, ... 64"),
    ],
)
def test_what_a_model_does_not_take_is_refused_where_it_stands(
    tmp_path: Path, old: str, new: str, key: str, problem: str, allowed: str
) -> None:
    text = edited(MANY_MODELS, old, new)
    error = refusal(tmp_path, text)
    line = line_of(text, "id: a" if key.startswith("0") else "id: b")
    assert (error.key, error.line) == (f"workload.jobs.{key}", line)
    assert problem in error.problem
    assert allowed in error.allowed


def with_measured(directory: Path) -> str:
    measured = directory / "measured"
    measured.mkdir()
    write_profile(make_profile(model="bert", batch_size=32), measured / "bert-2.json")
    return edited(MANY_MODELS, "workload:\n", "workload:\n  measured_profiles: measured\n")


def test_a_measured_profile_replaces_the_reconstruction_and_jobs_without_are_named(
    tmp_path: Path,
) -> None:
    scenario = load_scenario(write_scenario(tmp_path, with_measured(tmp_path)))
    (arm,) = scenario.arms
    assert [job.profile.provenance for job in arm.jobs] == ["reconstructed", "measured"]
    (warning,) = scenario.warnings
    assert warning.startswith("job a: no profile of gpt3 with 4 workers and a batch of 16")


def test_a_directory_without_profiles_is_refused_where_it_is_named(tmp_path: Path) -> None:
    text = edited(with_measured(tmp_path), "_profiles: measured", "_profiles: mesured")
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == ("workload.measured_profiles", line_of(text, "mesured"))
    assert error.problem == "'mesured' beside the scenario has 0 files *.json"


def test_a_damaged_measured_profile_is_refused_by_its_own_name(tmp_path: Path) -> None:
    text = with_measured(tmp_path)
    (tmp_path / "measured" / "bad.json").write_text("{")
    with pytest.raises(BadInputError) as caught:
        load_scenario(write_scenario(tmp_path, text))
    assert caught.value.file == tmp_path / "measured" / "bad.json"


def test_a_damaged_profile_is_refused_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(BadInputError) as caught:
        load_scenario(write_scenario(tmp_path, with_profile_file("bad.json")))
    assert caught.value.file == tmp_path / "bad.json"


@pytest.mark.parametrize("pair", [[0, 7], [0, -1]])
def test_a_pair_of_ranks_that_no_worker_has_is_refused(tmp_path: Path, pair: list[int]) -> None:
    transfer: dict[str, Any] = {"ready_s": 0.0, "bytes": 1e6, "pattern": "pairs", "pairs": [pair]}
    document = {
        "schema_version": 1,
        "model": "m",
        "num_gpus": 2,
        "provenance": "measured",
        "source": "x",
        "demand": {"compute_s": 0.1, "transfers": [transfer]},
    }
    (tmp_path / "pairs.json").write_text(json.dumps(document))
    with pytest.raises(BadInputError):
        load_scenario(write_scenario(tmp_path, with_profile_file("pairs.json")))
