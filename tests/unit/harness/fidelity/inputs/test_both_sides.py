"""A run directory with both sides: its emulation is the reference, and what it lacks is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from harness.fidelity.analysis import Fidelity, analyse
from harness.fidelity.conclusion import conclusion
from harness.fidelity.inputs.read import read_both_sides
from tests.unit.harness.report.iterations_run import summary, write_run, write_side
from tests.unit.harness.report.rounds_run import emulated_summary, job_rows, write_both_sides
from tests.unit.harness.report.rounds_run import write_table as write_rounds_table
from traces.errors import BadInputError
from traces.results import IterationRow
from traces.run_directory import table, write_json

MADE = {"iterations": write_run, "rounds": write_both_sides}


def compared(run: Path | str) -> Fidelity:
    return analyse(*read_both_sides(str(run)))


@pytest.mark.parametrize("kind", MADE)
def test_the_emulation_is_the_reference(kind: str, tmp_path: Path) -> None:
    run = MADE[kind](tmp_path / "run")
    reference, prediction = read_both_sides(str(run))
    assert reference.source == str(run / "emulated")
    assert prediction.source == str(run / "simulated")
    assert reference.warnings == prediction.warnings == ()


def test_a_pattern_of_several_runs_are_repeats_on_both_sides(tmp_path: Path) -> None:
    for number in (1, 2):
        write_run(tmp_path / f"run-{number}")
    reference, prediction = read_both_sides(str(tmp_path / "run-*"))
    for side in (reference, prediction):
        assert side.iterations is not None
        assert side.iterations["seed"].unique().tolist() == ["1", "2"]


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("side", ["emulated", "simulated"])
def test_a_run_that_lacks_a_side_is_refused(kind: str, side: str, tmp_path: Path) -> None:
    run = MADE[kind](tmp_path / "run")
    shutil.rmtree(run / side)
    with pytest.raises(BadInputError, match=f"there is no directory {side} in it") as error:
        read_both_sides(str(run))
    assert error.value.file == run
    assert "or a second file or directory" in error.value.allowed


def test_one_run_of_several_that_lacks_a_side_is_named(tmp_path: Path) -> None:
    write_run(tmp_path / "run-1")
    write_side(tmp_path / "run-2")
    with pytest.raises(BadInputError, match="no directory emulated") as error:
        read_both_sides(str(tmp_path / "run-*"))
    assert error.value.file == tmp_path / "run-2"


def test_what_is_no_directory_or_not_there_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text("job,jct_s\na,1\n", encoding="utf-8")
    with pytest.raises(BadInputError, match="nothing that it could be compared with"):
        read_both_sides(str(file))
    with pytest.raises(BadInputError, match="no such file or directory"):
        read_both_sides(str(tmp_path / "absent"))
    with pytest.raises(BadInputError, match="no file is named like that"):
        read_both_sides(str(tmp_path / "absent-*"))


def test_a_side_without_its_tables_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (run / "emulated" / "iterations.parquet").unlink()
    with pytest.raises(BadInputError, match=r"there is no iterations\.parquet") as error:
        read_both_sides(str(run))
    assert error.value.file == run / "emulated"


def test_a_table_that_a_killed_run_left_is_refused(tmp_path: Path) -> None:
    run = write_both_sides(tmp_path / "run")
    (run / "emulated" / "jobs.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadInputError, match=r"emulated/jobs\.parquet: cannot be read"):
        read_both_sides(str(run))


def test_arms_that_differ_are_named_and_none_in_common_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    write_side(run / "emulated", [("together", 0.3), ("old", 0.2)])
    found = compared(run)
    assert [arm.arm for arm in found.arms] == ["together"]
    assert (found.only_reference, found.only_prediction) == (("old",), ("dedicated",))
    write_side(run / "emulated", [("old", 0.2)])
    with pytest.raises(BadInputError, match="REFERENCE has old, PREDICTION has dedicated"):
        compared(run)


def test_an_interrupted_run_says_so_and_compares_what_was_done(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", summary(interrupted=True))
    write_side(run / "emulated", [("dedicated", 0.2)])
    found = compared(run)
    assert found.only_prediction == ("together",)
    for side in ("REFERENCE", "PREDICTION"):
        words = f"{side}: the run was interrupted: what was not done by then is missing"
        assert words in found.notes


def test_an_arm_of_which_no_job_ended_is_named(tmp_path: Path) -> None:
    """As a run that is stopped in its second arm leaves it."""
    run = write_both_sides(tmp_path / "run", emulated_summary(interrupted=True))
    jobs = job_rows()
    stopped = jobs["arm"] == "tune"
    jobs.loc[stopped, ["finish_s", "jct_s"]] = None
    write_rounds_table(run / "emulated", "jobs", jobs)
    found = compared(run)
    assert [arm.arm for arm in found.arms] == ["proportional"]
    assert found.unpaired == ("tune",)
    assert "tune could not be compared, as no job of it is on both sides" in conclusion(
        found
    ).replace("Tune", "tune")


def test_a_run_that_was_interrupted_before_its_emulation_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "iterations", summary(interrupted=True))
    table([], IterationRow).to_parquet(run / "emulated" / "iterations.parquet", index=False)
    with pytest.raises(BadInputError, match="REFERENCE has none"):
        compared(run)
    run = write_both_sides(tmp_path / "rounds", emulated_summary(interrupted=True))
    write_rounds_table(run / "emulated", "jobs", job_rows().iloc[:0])
    with pytest.raises(BadInputError, match="REFERENCE has none"):
        compared(run)


@pytest.mark.parametrize("status", ["suspect", "invalid"])
def test_an_emulation_that_is_not_valid_is_warned_of(status: str, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    file = run / "emulated" / "verdict.json"
    standing = {"alone": "valid", "dedicated": status, "together": status}
    write_json(file, {arm: {"status": each} for arm, each in standing.items()})
    found = compared(run)
    expected = f"the emulation of dedicated and together is {status}: {file} says why"
    assert found.warnings == [expected]
    assert "Nothing should be concluded before it is run again" in conclusion(found)


@pytest.mark.parametrize("file", ["summary.json", "emulated/verdict.json"])
def test_a_damaged_document_is_refused(file: str, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    (run / file).write_text("{", encoding="utf-8")
    with pytest.raises(BadInputError, match="is not JSON") as error:
        read_both_sides(str(run))
    assert error.value.file == run / file


def test_tables_are_those_of_the_sides(tmp_path: Path) -> None:
    run = write_both_sides(tmp_path / "run")
    for results, side in zip(read_both_sides(str(run)), ("emulated", "simulated"), strict=True):
        assert results.jobs is not None
        written = pd.read_parquet(run / side / "jobs.parquet")["jct_s"]
        assert results.jobs["jct_s"].tolist() == written.tolist()
