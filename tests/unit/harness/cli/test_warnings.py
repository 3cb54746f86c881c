"""What of a scenario is probably a mistake is said wherever the scenario is used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.builders import write_scenario
from tests.unit.harness.cli.conftest import Roundelay
from traces.run_directory import read_json

TOPOLOGY = """\
graph [
  node [ id 0 label "left0" ]
  node [ id 1 label "right0" ]
  node [ id 2 label "s" ]
  edge [ source 0 target 2 rate "60 TB/s" ]
  edge [ source 1 target 2 rate "50 Gbit/s" ]
]
"""
SCENARIO = """\
name: fast
cluster: {topology: ring.gml}
workload:
  iterations: 2
  jobs: [{id: a, profile: vgg19, servers: [left0, right0]}]
"""
SAID = "the link left0 to s with 480 Tbit/s is faster than 10 Tbit/s"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "ring.gml").write_text(TOPOLOGY)
    return write_scenario(tmp_path, SCENARIO)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_plan_says_it_beside_the_text(
    roundelay: Roundelay, file: Path, options: tuple[str, ...]
) -> None:
    result = roundelay("plan", file, *options)
    assert result.exit_code == 0
    assert f"warning: {SAID}" in " ".join(result.stderr.split())
    assert SAID not in result.stdout


def test_simulate_says_it_and_keeps_it(roundelay: Roundelay, file: Path, tmp_path: Path) -> None:
    result = roundelay("simulate", file, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    assert " ".join(result.stderr.split()).count(f"warning: {SAID}") == 1
    (kept,) = json.loads(result.stdout)["warnings"]
    assert kept.startswith(SAID)
    assert read_json(tmp_path / "out" / "summary.json")["warnings"] == [kept]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"! T{SAID[1:]}" in page
    assert "Gbit/s?</p>" in page


@pytest.mark.parametrize("verb", ["run", "emulate"])
def test_a_run_says_it_before_anything_can_fail(
    roundelay: Roundelay, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = roundelay(verb, file, "-o", tmp_path / "out")
    assert result.exit_code == 3
    assert f"warning: {SAID}" in " ".join(result.stderr.split())


def test_a_sound_scenario_has_none(roundelay: Roundelay, tmp_path: Path) -> None:
    result = roundelay("simulate", write_scenario(tmp_path), "-o", tmp_path / "out", "--json")
    assert json.loads(result.stdout)["warnings"] == []
    assert "warning" not in result.stderr
