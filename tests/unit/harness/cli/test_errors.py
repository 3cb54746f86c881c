"""A mistake is one line on standard error, with where and what is allowed, and an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.builders import SCENARIO, edited, line_of, write_scenario
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.harness.cli.said import one_line

FROM_SCENARIO = ["simulate", "plan", "run", "emulate"]


@pytest.mark.parametrize("verb", FROM_SCENARIO)
@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("seed: 7", "sead: 7", "sead"),
        ("rate: 50 Gbit/s", "rate: 50 Gbs", "cluster.rate"),
        ("{sharing: fifo}", "{sharing: fofo}", "arms.fifo.cluster.sharing"),
        ("servers: [left1, right1]", "servers: [left1, nowhere]", "workload.jobs.1.servers.1"),
    ],
)
def test_a_bad_scenario_is_one_line_with_file_line_key_and_what_is_allowed(
    roundelay: Roundelay, tmp_path: Path, verb: str, old: str, new: str, key: str
) -> None:
    text = edited(SCENARIO, old, new)
    file = write_scenario(tmp_path, text)
    said = one_line(roundelay(verb, file), exit_code=2)
    assert said.startswith(f"roundelay: {file}:{line_of(text, new)}: {key}: ")
    assert "; allowed: " in said


@pytest.mark.parametrize("verb", FROM_SCENARIO)
def test_a_scenario_that_is_not_there_is_one_line(
    roundelay: Roundelay, tmp_path: Path, verb: str
) -> None:
    assert "cannot be read" in one_line(roundelay(verb, tmp_path / "absent.yaml"), exit_code=2)


def test_the_streams_and_exit_code_of_the_real_process_are_those(tmp_path: Path) -> None:
    file = write_scenario(tmp_path, "name: [\n")
    program = "from harness.cli.main import main; main()"
    done = subprocess.run(
        (sys.executable, "-c", program, "simulate", str(file)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"roundelay: {file}:2: is not YAML: ")
    assert done.stderr.count("\n") == 1


def test_a_newline_in_a_key_does_not_break_the_line(roundelay: Roundelay, tmp_path: Path) -> None:
    one_line(roundelay("plan", write_scenario(tmp_path, SCENARIO + '"a\\nb": 1\n')), exit_code=2)


def test_plan_refuses_a_bad_run_id(roundelay: Roundelay, tmp_path: Path) -> None:
    said = one_line(roundelay("plan", write_scenario(tmp_path), "--run-id", "Bad!"), exit_code=2)
    assert "--run-id" in said


@pytest.mark.parametrize("change", ["rate_divisor: 1e11", "rate_divisor: .inf"])
def test_a_scale_that_leaves_no_rate_is_one_line(
    roundelay: Roundelay, tmp_path: Path, change: str
) -> None:
    file = write_scenario(tmp_path, f"{SCENARIO}scale: {{{change}}}\n")
    one_line(roundelay("plan", file), exit_code=2)


def test_a_link_too_slow_to_shape_is_one_line(roundelay: Roundelay, tmp_path: Path) -> None:
    text = edited(SCENARIO, "rate: 50 Gbit/s", "rate: 1 bit/s")
    one_line(roundelay("plan", write_scenario(tmp_path, text)), exit_code=2)


def test_a_job_that_does_nothing_is_refused_where_it_stands(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    document = {
        "schema_version": 1,
        "model": "m",
        "num_gpus": 2,
        "provenance": "measured",
        "source": "x",
        "demand": {"compute_s": 0.0, "transfers": []},
    }
    (tmp_path / "nothing.json").write_text(json.dumps(document))
    text = SCENARIO.replace("profile: vgg19", "profile: nothing.json")
    result = roundelay("simulate", write_scenario(tmp_path, text), "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "summary.json" not in result.stderr


@pytest.mark.parametrize("verb", ["run", "emulate"])
def test_without_iproute2_a_run_says_what_to_install(
    roundelay: Roundelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = one_line(roundelay(verb, write_scenario(tmp_path), "-o", tmp_path / "out"), exit_code=3)
    assert "'ip' is not found" in said
    assert "apt-get install iproute2" in said
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "state").exists()


def test_doctor_says_that_iproute2_is_missing(
    roundelay: Roundelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = roundelay("doctor", "--json")
    assert result.exit_code == 3
    findings = {each["name"]: each for each in json.loads(result.stdout)["findings"]}
    assert not findings["ip"]["ok"]
    assert "apt-get install iproute2" in findings["ip"]["remedy"]
    assert "apt-get install iproute2" in result.stderr


@pytest.mark.parametrize("hidden", ["results.txt", ".keep"])
def test_results_never_go_where_something_is(
    roundelay: Roundelay, tmp_path: Path, hidden: str
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / hidden).touch()
    said = one_line(
        roundelay("simulate", write_scenario(tmp_path), "-o", tmp_path / "out"), exit_code=2
    )
    assert "not empty" in said
    assert [each.name for each in (tmp_path / "out").iterdir()] == [hidden]


def test_cleaning_an_unknown_run_is_refused(
    roundelay: Roundelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "there is no run 'nope'" in one_line(roundelay("clean", "--run", "nope"), exit_code=2)


def test_cleaning_needs_root(roundelay: Roundelay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo" in one_line(roundelay("clean"), exit_code=3)
