"""validate: two runs compared, and the exit code of the check."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.report.words import SPACE
from tests.unit.builders import iteration_row
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.harness.report.iterations_run import write_run
from tests.unit.harness.report.rounds_run import SLOWER, write_both_sides
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
    assert "only in PREDICTION: new" in result.stderr


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


def table(file: Path, jct_s: list[float]) -> Path:
    rows = [f"{job},{time_s}" for job, time_s in enumerate(jct_s)]
    file.write_text("\n".join(["job,jct_s", *rows]) + "\n", encoding="utf-8")
    return file


def test_tables_of_jobs_have_a_conclusion_and_a_page(roundelay: Roundelay, tmp_path: Path) -> None:
    jct_s = [100.0 + number for number in range(30)]
    reference = table(tmp_path / "r.csv", jct_s)
    prediction = table(tmp_path / "p.csv", [1.01 * time_s for time_s in jct_s[:29]])
    page = tmp_path / "page.html"
    result = roundelay("validate", reference, prediction, "-o", page, "--json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    (arm,) = document["arms"]
    assert (arm["measure"], arm["statement"]) == ("jct_s", "equivalent")
    assert arm["one_sided"][0] == {
        "only_in": "reference", "count": 1, "of": 30, "not_ended_on_the_other": 0, "names": ["29"],
    }  # fmt: skip
    assert document["conclusion"].replace(SPACE, " ") in result.stderr
    assert "<!doctype html>" in page.read_text(encoding="utf-8")
    again = roundelay("validate", reference, prediction, "-o", page)
    assert again.exit_code == 2
    assert "is there already" in again.stderr


def test_other_units_are_a_warning_and_bad_rows_are_refused(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    reference = table(tmp_path / "r.csv", [100.0, 200.0, 300.0])
    hours = table(tmp_path / "h.csv", [0.03, 0.05, 0.09])
    result = roundelay("validate", reference, hours)
    assert "warning: REFERENCE is about 3,600 times as long" in result.stderr
    assert "multiply it by 3,600" in result.stderr
    bad = roundelay("validate", reference, table(tmp_path / "b.csv", [100.0, -1.0]))
    assert bad.exit_code == 2
    assert bad.stderr.count("\n") == 1
    assert "b.csv:3: jct_s" in bad.stderr


def test_a_directory_with_both_sides_is_enough(roundelay: Roundelay, tmp_path: Path) -> None:
    run, page = write_both_sides(tmp_path / "run"), tmp_path / "page.html"
    result = roundelay("validate", run, "--within", "5%", "-o", page, "--json")
    assert result.exit_code == 1, result.stderr
    document = json.loads(result.stdout)
    assert [arm["name"] for arm in document["arms"]] == ["proportional", "tune"]
    for arm in document["arms"]:
        assert arm["mean_ratio"]["value"] == pytest.approx(1 / SLOWER)
        assert arm["makespan"]["ratio"]["interval"] is None
        assert "one number of a whole run" in arm["makespan"]["no_interval"]
    assert "note: a makespan is one number of a whole run" in result.stderr
    assert "<!doctype html>" in page.read_text(encoding="utf-8")
    pair = roundelay("validate", run / "emulated", run / "simulated", "--within", "5%", "--json")
    assert json.loads(pair.stdout) == document


@pytest.mark.parametrize("side", ["emulated", "simulated"])
def test_a_directory_with_one_side_needs_another(
    roundelay: Roundelay, side: str, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "run")
    shutil.rmtree(run / side)
    result = roundelay("validate", run)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert f"there is no directory {side} in it" in result.stderr


def test_an_arm_without_a_pair_and_a_doubtful_emulation_are_told(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "run")
    verdict = {"together": {"status": "invalid"}}
    (run / "emulated" / "verdict.json").write_text(json.dumps(verdict), encoding="utf-8")
    write_table(
        run / "emulated",
        "iterations",
        [
            *(iteration_row("dedicated", number, 0.2) for number in range(9)),
            iteration_row("together", 0, 0.2, job="three"),
        ],
    )
    result = roundelay("validate", run, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["without_pairs"] == ["together"]
    words = " ".join(result.stderr.split())
    assert "not compared, as no job of it is on both sides: together" in words
    assert "warning: the emulation of together is invalid" in words
