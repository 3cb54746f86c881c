"""Synergy's traces: what is read, and each way in which a CSV file is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats import csv_part
from traces.formats.synergy_trace import read_synergy_trace
from traces.job_trace import JobTrace

REAL_DATA = Path(__file__).parents[4] / "shared" / "data" / "synergy"

TEXT = "0,alexnet,8,23349,1\n1,gnmt,126.5,26435,4\n"


def read(directory: Path, text: str | bytes) -> JobTrace:
    file = directory / "trace.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_synergy_trace(file)


def refusal(directory: Path, text: str | bytes) -> BadInputError:
    return refusal_of(directory / "trace.csv", read, directory, text)


def test_a_job_has_what_its_line_says(tmp_path: Path) -> None:
    trace = read(tmp_path, TEXT)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["0", "1"]
    assert jobs["model"].tolist() == ["alexnet", "gnmt"]
    assert jobs["submit_s"].tolist() == [8.0, 126.5]
    assert jobs["iterations"].tolist() == [23349.0, 26435.0]
    assert jobs["num_gpus"].tolist() == [1, 4]
    assert jobs["line"].tolist() == [1, 2]
    assert jobs[["duration_s", "user", "virtual_cluster"]].isna().all(axis=None)
    assert (trace.format, trace.read, trace.reordered, trace.notes) == ("synergy", 2, 0, ())
    assert trace.source == f"trace.csv, SHA-256 {hashlib.sha256(TEXT.encode()).hexdigest()}"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode().rstrip(b"\n"),
        TEXT.encode().replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + TEXT.encode(),
        b"\xef\xbb\xbf" + TEXT.encode().replace(b"\n", b"\r\n"),
        TEXT.encode().replace(b",", b", "),
        TEXT.encode().replace(b"\n", b",\n"),
    ],
)
def test_line_ends_a_byte_order_mark_spaces_and_separators_change_nothing(
    tmp_path: Path, data: bytes
) -> None:
    plain = read(tmp_path, TEXT)
    other = read(tmp_path, data)
    pd.testing.assert_frame_equal(other.jobs, plain.jobs)
    assert other.notes == ()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_are_left_out_counted_and_keep_the_lines_right(
    tmp_path: Path, end: str
) -> None:
    trace = read(tmp_path, f"{end}0,a,0,1,1{end}{end}{end}1,b,1,2,2{end}{end}")
    assert trace.jobs["line"].tolist() == [2, 5]
    assert trace.jobs["model"].tolist() == ["a", "b"]
    assert trace.read == 2
    assert trace.notes == ("blank lines left out: 4",)


def test_lines_out_of_order_keep_their_numbers(tmp_path: Path) -> None:
    trace = read(tmp_path, "late,a,9,1,1\nearly,b,2,1,1\n")
    assert trace.jobs["job"].tolist() == ["early", "late"]
    assert trace.jobs["line"].tolist() == [2, 1]
    assert trace.reordered == 1


@pytest.mark.parametrize(
    ("row", "key", "problem"),
    [
        ("2,a,soon,1,1", "arrival_s", "the value is 'soon'"),
        ("2,a,nan,1,1", "arrival_s", "the value is 'nan'"),
        ("2,a,,1,1", "arrival_s", "the value is ''"),
        ("2,a,0x10,1,1", "arrival_s", "the value is '0x10'"),
        ("2,a,-1,1,1", "arrival_s", "job '2' has -1 s"),
        ("2,a,inf,1,1", "arrival_s", "job '2' has inf s"),
        ("2,a,1,many,1", "iterations", "the value is 'many'"),
        ("2,a,1,0,1", "iterations", "job '2' has 0 iterations"),
        ("2,a,1,1,1.5", "gpus", "job '2' has 1.5 GPUs"),
        ("2,a,1,1,0", "gpus", "job '2' has 0 GPUs"),
        ("2,a,1,1,one", "gpus", "the value is 'one'"),
        ("2,,1,1,1", "model", "the value is ''"),
        ("2,  ,1,1,1", "model", "the value is '  '"),
        (",a,1,1,1", "job_id", "the value is ''"),
        ("0,a,1,1,1", "job_id", "job '0' has the id of another job"),
        ("2,a,1,1", None, "the number of fields is 4"),
        ("2,a,1,1,1,1", None, "the number of fields is 6"),
        ("2,a,1,1,1,1,1,1,1", None, "the number of fields is 9"),
        ("nothing", None, "the number of fields is 1"),
        ('2,"a",1,1,1', None, "has the character '\"'"),
        ("2,a\x00,1,1,1", None, "has the character '\\x00'"),
        ("2,a,1,1,1\r3,a,1,1,1", None, "has the character '\\r'"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, row: str, key: str | None, problem: str
) -> None:
    error = refusal(tmp_path, f"{TEXT}\n{row}\n3,a,1,1,1\n")
    assert (error.line, error.key, error.problem) == (4, key, problem)
    assert error.allowed


def test_a_first_line_with_more_fields_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, "0,a,1,1,1,,7\n1,a,1,1,1\n")
    assert (error.line, error.problem) == (1, "the number of fields is 7")


def test_a_long_value_is_shown_in_part(tmp_path: Path) -> None:
    problem = refusal(tmp_path, f"0,a,{'x' * 500},1,1\n").problem
    assert problem == f"the value is '{'x' * 60}...'"


def test_what_is_not_utf_8_is_refused_by_line(tmp_path: Path) -> None:
    error = refusal(tmp_path, TEXT.encode() + b"2,\xff,1,1,1\n3,a,1,1,1\n")
    assert (error.line, error.problem) == (3, "is not UTF-8 text")


@pytest.mark.parametrize("text", ["", "\n\n", "\r\n"])
def test_a_file_without_rows_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text).problem == "there is no row"


def test_a_file_that_is_too_large_is_refused_and_the_bound_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_part, "MAX_FILE_BYTES", len(TEXT))
    assert len(read(tmp_path, TEXT).jobs) == 2
    error = refusal(tmp_path, TEXT + "\n")
    assert error.problem == "the file is too large"
    assert "1 GiB" in error.allowed


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "absent"):
        with pytest.raises(BadInputError, match="cannot be read"):
            read_synergy_trace(place)


@settings(max_examples=40)
@given(data=damaged(TEXT.encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    check_read_or_refused(read_synergy_trace, tmp_path_factory.getbasetemp() / "damaged", data)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "jobs", "last_submit_s"),
    [
        ("deploy_dynamic_srtf.csv", 100, None),
        ("deploy_static_100.csv", 100, 0.099),
        ("oracle/trace_7jph.csv", 6000, None),
        ("oracle/trace_8jph.csv", 6323, None),
        ("oracle/trace_9jph.csv", 6925, None),
    ],
)
def test_real_traces(name: str, jobs: int, last_submit_s: float | None) -> None:
    file = REAL_DATA / name
    if not file.exists():
        pytest.skip("the real traces are not beside this checkout")
    trace = read_synergy_trace(file)
    assert len(trace.jobs) == trace.read == jobs
    assert trace.reordered == 0
    assert trace.jobs["job"].tolist() == [str(number) for number in range(jobs)]
    assert set(trace.jobs["num_gpus"]) == {1}
    if last_submit_s is not None:
        assert trace.jobs["submit_s"].iloc[-1] == last_submit_s
