"""Tiresias' traces: what is read of them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.tiresias_trace import read_tiresias_trace
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

HEADER = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
ROWS = "0,1,0,606,vgg19,164,30\n1,8,30,133,vgg11,147.5,23\n2,2,53,157,inception4,127,26\n"


def read(directory: Path, text: str | bytes, share: float = 1.0) -> JobTrace:
    file = directory / "60_job.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_tiresias_trace(file, ReadOptions(share=share))


def refusal(directory: Path, text: str) -> BadInputError:
    return refusal_of(directory / "60_job.csv", read, directory, text)


@pytest.mark.parametrize(
    "text",
    [
        HEADER + ROWS,
        "\ufeff" + (HEADER + ROWS).replace("\n", "\r\n"),
        (HEADER + ROWS).replace("\n", ",\n"),
    ],
)
def test_times_are_seconds_and_kept_as_given(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["0", "1", "2"]
    assert jobs["submit_s"].tolist() == [0.0, 30.0, 53.0]
    assert jobs["num_gpus"].tolist() == [1, 8, 2]
    assert jobs["model"].tolist() == ["vgg19", "vgg11", "inception4"]
    assert jobs["iterations"].tolist() == [606.0, 133.0, 157.0]
    assert jobs["duration_s"].tolist() == [164.0, 147.5, 127.0]
    assert jobs["line"].tolist() == [2, 3, 4]
    assert (trace.format, trace.read, trace.notes) == ("tiresias", 3, ())


def test_a_share_has_whole_jobs(tmp_path: Path) -> None:
    assert read(tmp_path, HEADER + ROWS * 1, share=0.8).jobs["job"].tolist() == ["0", "1"]


@pytest.mark.parametrize(
    ("row", "key", "problem"),
    [
        ("1,2,53,157,inception4,127,26", "job_id", "job '1' has the id of another job"),
        (",2,53,157,inception4,127,26", "job_id", "the value is ''"),
        ("2,0,53,157,inception4,127,26", "num_gpu", "job '2' has 0 GPUs"),
        ("2,2,-53,157,inception4,127,26", "submit_time", "job '2' has -53 s"),
        ("2,2,53,0,inception4,127,26", "iterations", "job '2' has 0 iterations"),
        ("2,2,53,157,,127,26", "model_name", "the value is ''"),
        ("2,2,53,157,inception4,-127,26", "duration", "job '2' has -127 s"),
        ("2,2,53,157,inception4,None,26", "duration", "the value is 'None'"),
        ("2,2,53,157,inception4,127", None, "the number of fields is 6"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, row: str, key: str | None, problem: str
) -> None:
    first, second, _ = ROWS.splitlines()
    error = refusal(tmp_path, f"{HEADER}{first}\n{second}\n\n{row}\n")
    assert (error.line, error.key, error.problem) == (5, key, problem)


@settings(max_examples=40)
@given(data=damaged((HEADER + ROWS).encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged"
    check_read_or_refused(read_tiresias_trace, file, data)
