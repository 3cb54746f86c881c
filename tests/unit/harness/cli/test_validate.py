"""validate: two runs compared, and the exit code of the check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.builders import iteration_row
from tests.unit.harness.cli.conftest import Roundelay
from traces.run_directory import write_table


def run_directory(place: Path, **arms: float) -> Path:
    place.mkdir()
    rows = [
        iteration_row(arm, number, length) for arm, length in arms.items() for number in range(5)
    ]
    write_table(place, "iterations", rows)
    return place


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Reference and prediction; the arm ``b`` is 4 % too long."""
    return (
        run_directory(tmp_path / "reference", a=0.2, b=0.25),
        run_directory(tmp_path / "prediction", a=0.2, b=0.26),
    )


@pytest.mark.parametrize(("within", "code"), [("5%", 0), ("4.1 %", 0), ("3.9%", 1), ("0%", 1)])
def test_within_makes_it_a_check(
    roundelay: Roundelay, runs: tuple[Path, Path], within: str, code: int
) -> None:
    result = roundelay("validate", *runs, "--within", within)
    assert result.exit_code == code
    assert ("above" in result.stderr) == (code == 1)


def test_without_within_every_difference_is_fine(
    roundelay: Roundelay, runs: tuple[Path, Path]
) -> None:
    assert roundelay("validate", *runs).exit_code == 0


@pytest.mark.parametrize("within", ["5", "five", "-5%", "", "5%%"])
def test_a_bad_limit_is_refused(roundelay: Roundelay, runs: tuple[Path, Path], within: str) -> None:
    result = roundelay("validate", *runs, "--within", within)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "--within" in result.stderr
    assert "such as 5%" in result.stderr


def test_json_is_one_document_also_where_the_check_fails(
    roundelay: Roundelay, runs: tuple[Path, Path]
) -> None:
    result = roundelay("validate", *runs, "--within", "1%", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (document["within"], document["holds"]) == (0.01, False)
    assert document["worst_mean_difference"] == pytest.approx(0.04)
    by_name = {arm["name"]: arm for arm in document["arms"]}
    assert by_name["a"]["difference"]["mean"] == pytest.approx(0.0)
    assert by_name["b"]["difference"]["p99"] == pytest.approx(0.04)
    assert by_name["b"]["reference"]["iteration_s"]["mean"] == pytest.approx(0.25)
    assert by_name["b"]["prediction"]["iteration_s"]["mean"] == pytest.approx(0.26)


def test_an_arm_that_only_one_run_has_is_named(roundelay: Roundelay, tmp_path: Path) -> None:
    reference = run_directory(tmp_path / "r", a=0.2, old=0.2)
    prediction = run_directory(tmp_path / "p", a=0.2, new=0.2)
    result = roundelay("validate", reference, prediction, "--json")
    document = json.loads(result.stdout)
    assert document["only_in_reference"] == ["old"]
    assert document["only_in_prediction"] == ["new"]
    assert "only in REFERENCE: old" in result.stderr


def test_runs_without_a_common_arm_are_refused(roundelay: Roundelay, tmp_path: Path) -> None:
    reference, prediction = run_directory(tmp_path / "r", a=0.2), run_directory(tmp_path / "p", b=1)
    result = roundelay("validate", reference, prediction)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "REFERENCE has a, PREDICTION has b" in result.stderr


def test_what_is_no_run_directory_is_refused(
    roundelay: Roundelay, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    result = roundelay("validate", runs[0], tmp_path)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "there is no iterations.parquet" in result.stderr
