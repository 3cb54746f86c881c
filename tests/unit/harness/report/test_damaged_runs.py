"""What is no run, or a damaged one, is refused by the name of its file and the place in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness.report.page import build_report
from tests.unit.harness.report.iterations_run import circle, write_run
from tests.unit.harness.report.rounds_run import job_rows, write_rounds_run
from traces.errors import BadInputError
from traces.run_directory import write_json


def test_what_is_not_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=re.escape("there is no summary.json")):
        build_report([tmp_path])
    with pytest.raises(BadInputError, match="no run to report"):
        build_report([])


@pytest.mark.parametrize(
    ("file", "text", "key"),
    [
        ("summary.json", "{", None),
        ("summary.json", "{}", "scenario"),
        ("circles.json", '[{"ports": ["a"]}]', "0.jobs"),
        ("emulated/provenance.json", "[]", None),
    ],
)
def test_damaged_documents_are_named(tmp_path: Path, file: str, text: str, key: str | None) -> None:
    directory = write_run(tmp_path)
    (directory / file).write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        build_report([directory])
    assert (error.value.file, error.value.key) == (directory / file, key)


def test_a_circle_must_have_a_demand_for_each_job(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    write_json(directory / "circles.json", [circle(demand=[[(72, 1.0)]])])
    with pytest.raises(BadInputError, match="missing for a job"):
        build_report([directory])


@pytest.mark.parametrize(
    "other", [[(71, 1.0)], [(36, 0.0), (37, 1.0)], [], [(2**24, 1.0)]], ids=str
)
def test_a_circle_has_the_same_slices_of_each_job(tmp_path: Path, other: Any) -> None:
    directory = write_run(tmp_path)
    write_json(directory / "circles.json", [circle(demand=[[(36, 0.0), (36, 1.0)], other])])
    with pytest.raises(BadInputError) as error:
        build_report([directory])
    assert error.value.file == directory / "circles.json"


def test_a_circle_of_too_many_slices_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    write_json(directory / "circles.json", [circle(demand=[[(2**23, 1.0)]] * 2)])
    with pytest.raises(BadInputError, match="far too many"):
        build_report([directory])


@pytest.mark.parametrize(
    ("file", "text", "key"),
    [
        ("summary.json", '{"kind": "rounds"}', "scenario"),
        ("summary.json", '{"kind": "circles"}', "kind"),
        ("summary.json", '{"kind": ["rounds"]}', "kind"),
        ("provenance.json", "{}", "finished_utc"),
        ("jobs.parquet", "PAR1", None),
        ("rounds.parquet", "", None),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, file: str, text: str, key: str | None) -> None:
    directory = write_rounds_run(tmp_path)
    (directory / file).write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        build_report([directory])
    assert (error.value.file, error.value.key) == (directory / file, key)


def test_tables_that_are_absent_or_lack_a_column_are_named(tmp_path: Path) -> None:
    directory = write_rounds_run(tmp_path)
    job_rows().drop(columns="alone_s").to_parquet(directory / "jobs.parquet")
    with pytest.raises(BadInputError, match="lacks the column 'alone_s'"):
        build_report([directory])
    (directory / "jobs.parquet").unlink()
    with pytest.raises(BadInputError, match=r"there is no jobs\.parquet"):
        build_report([directory])
