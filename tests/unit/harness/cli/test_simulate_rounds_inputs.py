"""What simulate does with the jobs and profiles that lie beside a scenario of rounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.unit.builders import edited, write_scenario
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.harness.cli.rounds_files import ROUNDS_FILES
from tests.unit.harness.cli.said import folded, one_line
from traces.run_directory import read_json
from traces.sensitivity import Sensitivities, builtin_sensitivities, write_sensitivities

WITH_TRACE = """\
name: from-a-trace
cluster: {servers: 2}
workload: {trace: jobs.csv}
arms:
  proportional: {}
  tune: {scheduler: {mechanism: tune}}
"""
SOUND = ["1,alexnet,0,9000,1", "2,gnmt,10,90000,4", "3,res50,700,5000,8", "4,m5,900,7000,1"]


def scenario_with_trace(
    directory: Path, lines: list[str] | None = None, text: str = WITH_TRACE
) -> Path:
    (directory / "jobs.csv").write_text("".join(f"{line}\n" for line in lines or SOUND))
    return write_scenario(directory, text)


def test_a_trace_lies_beside_the_scenario(roundelay: Roundelay, tmp_path: Path) -> None:
    """Wherever the command is called from; results go below the current directory."""
    result = roundelay("simulate", scenario_with_trace(tmp_path))
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    (directory,) = (tmp_path / "here" / "runs").iterdir()
    assert directory.name.startswith("scenario-")
    assert {each.name for each in directory.iterdir()} == ROUNDS_FILES
    jobs = pd.read_parquet(directory / "jobs.parquet")
    assert jobs[jobs["arm"] == "tune"]["job"].tolist() == ["1", "2", "3", "4"]
    assert jobs[jobs["arm"] == "tune"]["iterations"].tolist() == [9000, 90000, 5000, 7000]
    (workload,) = read_json(directory / "provenance.json")["workloads"]
    assert workload.startswith("jobs.csv, SHA-256 ")


def test_one_seed_is_shown_without_intervals(roundelay: Roundelay, tmp_path: Path) -> None:
    result = roundelay("simulate", scenario_with_trace(tmp_path), "-o", tmp_path / "out")
    said = folded(result.stderr)
    assert "from-a-trace: job completion time in h " in said
    assert "intervals" not in said
    assert "proportional ..." in said


def test_jobs_out_of_order_are_put_in_order_and_that_is_said(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    file = scenario_with_trace(tmp_path, SOUND[::-1])
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    assert "3 jobs of the trace put in order of submission" in folded(result.stderr)
    (jobs, _) = (arm["runs"][0]["jobs"] for arm in json.loads(result.stdout)["arms"])
    assert (jobs["reordered"], jobs["ran"]) == (3, 4)
    rows = pd.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert rows[rows["arm"] == "tune"]["job"].tolist() == ["1", "2", "3", "4"]


def test_a_job_that_asks_for_more_gpus_than_there_are_is_left_out_counted_and_said(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    file = scenario_with_trace(tmp_path, [*SOUND, "5,gnmt,950,9,17", "6,gnmt,960,9,16"])
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    said = folded(result.stderr)
    for arm in ("proportional", "tune"):
        assert (
            f"{arm}: 1 job left out: asks for more than the 16 GPUs of one type that it can run "
            "on (line 5)"
        ) in said
    for arm in json.loads(result.stdout)["arms"]:
        (run,) = arm["runs"]
        assert (run["jobs"]["read"], run["jobs"]["ran"], run["jobs"]["counted"]) == (6, 5, 5)
        assert [(each["count"], each["where"]) for each in run["jobs"]["refused"]] == [
            (1, "line 5")
        ]
    rows = pd.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert "5" not in set(rows["job"])
    assert "6" in set(rows["job"])


def test_where_every_job_asks_for_too_much_nothing_runs(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    file = scenario_with_trace(tmp_path, ["1,gnmt,0,9,17"])
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out"), exit_code=2)
    assert said.startswith(f"roundelay: {file}:1: measure: no job that counts can run")
    assert "jobs that fit the cluster" in said
    assert not (tmp_path / "out").exists()


BAD_ROWS = [
    # a row, its column, part of what is wrong, part of what is right
    ("5,vgg99,950,9,1", "", "trains 'vgg99', of which there is no profile on v100", "alexnet"),
    ("5,gnmt,nan,9,1", "arrival_s", "'nan'", "number"),
    ("5,gnmt,soon,9,1", "arrival_s", "'soon'", "number"),
    ("5,gnmt,inf,9,1", "arrival_s", "inf", "finite time of 0 s or more"),
    ("5,gnmt,-1,9,1", "arrival_s", "-1", "finite time of 0 s or more"),
    ("5,gnmt,950,0,1", "iterations", "0 iterations", "above 0"),
    ("5,gnmt,950,nan,1", "iterations", "'nan'", "number"),
    ("5,gnmt,950,-9,1", "iterations", "-9 iterations", "above 0"),
    ("5,gnmt,950,inf,1", "iterations", "inf iterations", "finite number above 0"),
    ("5,gnmt,950,9,0", "gpus", "0 GPUs", "from 1"),
    ("5,gnmt,950,9,1.5", "gpus", "1.5 GPUs", "whole number"),
    ("3,gnmt,950,9,1", "job_id", "job '3' has the id of another job", "no other job has"),
    ("5,gnmt,950,9", "", "the number of fields is 4", "job_id,model,arrival_s,iterations,gpus"),
    ("5,,950,9,1", "model", "''", "a value"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "column", "problem", "allowed"), BAD_ROWS, ids=[each[0] for each in BAD_ROWS]
)
def test_a_bad_row_of_the_trace_is_one_line_with_file_row_and_what_is_allowed(
    roundelay: Roundelay, tmp_path: Path, row: str, column: str, problem: str, allowed: str
) -> None:
    file = scenario_with_trace(tmp_path, [*SOUND, row])
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out", "--json"), exit_code=2)
    place = f"roundelay: {tmp_path / 'jobs.csv'}:5: "
    assert said.startswith(f"{place}{column}: " if column else place)
    assert problem in said
    assert allowed in said.partition("; allowed: ")[2]
    assert not (tmp_path / "out").exists()


def with_profiles(directory: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A scenario whose profiles are those of alexnet and gnmt with a change of the first."""
    known = builtin_sensitivities("synergy")
    some = Sensitivities((known.of("alexnet", "v100"), known.of("gnmt", "v100")))
    write_sensitivities(some, directory / "mine.json")
    document = json.loads((directory / "mine.json").read_text())
    change(document["models"][0])
    (directory / "mine.json").write_text(json.dumps(document))
    text = edited(WITH_TRACE, "{trace: jobs.csv}", "{trace: jobs.csv, profiles: mine.json}")
    return scenario_with_trace(directory, SOUND[:2], text)


def falling(model: dict[str, Any]) -> None:
    model["throughput"][3][1] = 0.9  # 1.25 was measured with 4 CPUs, 1 with 3


def undefined(model: dict[str, Any]) -> None:
    model["throughput"][3][1] = float("nan")


def without_speed(model: dict[str, Any]) -> None:
    model["iteration_s"] = 0.0


@pytest.mark.parametrize(
    ("change", "key", "problem"),
    [
        (
            falling,
            "models.0.throughput",
            "of alexnet at 4 CPUs and 62.5 GB is 0.9, lower than with",
        ),
        (undefined, "models.0.throughput", "of alexnet at 4 CPUs and 62.5 GB is nan, and must be"),
        (without_speed, "models.0.iteration_s", "is 0, and must be more than 0"),
    ],
)
def test_profiles_that_make_no_sense_are_one_line_with_file_and_place(
    roundelay: Roundelay,
    tmp_path: Path,
    change: Callable[[dict[str, Any]], None],
    key: str,
    problem: str,
) -> None:
    file = with_profiles(tmp_path, change)
    said = one_line(roundelay("simulate", file, "-o", tmp_path / "out"), exit_code=2)
    assert said.startswith(f"roundelay: {tmp_path / 'mine.json'}: {key}: ")
    assert problem in said
    assert not (tmp_path / "out").exists()


def test_profiles_beside_the_scenario_are_used(roundelay: Roundelay, tmp_path: Path) -> None:
    file = with_profiles(tmp_path, lambda model: None)
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    assert read_json(tmp_path / "out" / "provenance.json")["profiles"] == {
        "proportional": "", "tune": ""
    }  # fmt: skip
