"""simulate: one JSON document, a run directory, and the numbers of the fluid model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli.main import main
from tests.unit.builders import write_scenario
from traces.models import RECONSTRUCTED
from traces.run_directory import read_json, read_table

PROFILE = RECONSTRUCTED["vgg19"].profile(2)
COMPUTE_S = PROFILE.demand.compute_s
TRANSFER_S = PROFILE.demand.transfers[0].bytes * 8 / 50e9


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """One run for all tests: its output and its directory."""
    place = tmp_path_factory.mktemp("simulate")
    file = write_scenario(place)
    return CliRunner().invoke(
        main, ["simulate", str(file), "-o", str(place / "out"), "--json"]
    ), place / "out"


@pytest.fixture(scope="module")
def arms(simulated: tuple[Result, Path]) -> dict[str, Any]:
    return {arm["name"]: arm for arm in json.loads(simulated[0].stdout)["arms"]}


def test_standard_output_is_one_json_document(simulated: tuple[Result, Path]) -> None:
    result, directory = simulated
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == read_json(directory / "summary.json")


def test_words_for_people_are_on_standard_error(simulated: tuple[Result, Path]) -> None:
    result, directory = simulated
    assert str(directory / "report.html") in result.stderr
    assert "dedicated" in result.stderr


@pytest.mark.parametrize(
    ("arm", "mean_s"),
    [
        ("dedicated", COMPUTE_S + TRANSFER_S),
        ("together", COMPUTE_S + 2 * TRANSFER_S),
        ("fifo", COMPUTE_S + 2 * TRANSFER_S),
        ("shifted", (COMPUTE_S + TRANSFER_S) * 1.005),
    ],
)
def test_the_predictions_are_those_of_the_model(
    arms: dict[str, Any], arm: str, mean_s: float
) -> None:
    assert arms[arm]["predicted"]["iteration_s"]["mean"] == pytest.approx(mean_s, rel=1e-6)
    assert arms[arm]["measured"] is None


def test_the_run_directory_is_whole(simulated: tuple[Result, Path]) -> None:
    _, directory = simulated
    assert {each.name for each in directory.iterdir()} == {
        "circles.json", "iterations.parquet", "jobs.parquet", "links.parquet", "provenance.json",
        "report.html", "scenario.yaml", "summary.json", "timeline.json",
    }  # fmt: skip
    iterations = read_table(directory, "iterations")
    assert len(iterations) == 4 * 2 * 5
    assert iterations["counted"].sum() == 4 * 2 * 4
    assert len(read_table(directory, "jobs")) == 4 * 2
    assert read_json(directory / "provenance.json")["seed"] == 7


def test_the_same_scenario_gives_the_same_numbers(
    simulated: tuple[Result, Path], tmp_path: Path
) -> None:
    file = write_scenario(tmp_path)
    again = CliRunner().invoke(main, ["simulate", str(file), "-o", str(tmp_path / "o"), "--json"])
    assert again.stdout == simulated[0].stdout
