"""ElasticFlow's traces: both of their headers, the shift of times, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.elasticflow_trace import read_elasticflow_trace
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

SHORT = (
    "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n"
    "0,3715485,2011,cifar10,3719996,4096,1,5644\n"
    "1,3717550,1548,ncf,3717583,32768,8,66\n"
)
LONG = (
    "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,duration,"
    "iteration\n"
    "0,0,1,vgg16,771220,256,1,2,976570,1282877\n"
    "1,219316,1,bert,2065619,64,4,2,1792395,26446831\n"
)


def read(directory: Path, text: str | bytes, share: float = 1.0) -> JobTrace:
    file = directory / "trace.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_elasticflow_trace(file, ReadOptions(share=share))


def refusal(directory: Path, text: str) -> BadInputError:
    return refusal_of(directory / "trace.csv", read, directory, text)


@pytest.mark.parametrize(
    "text", [SHORT, "\ufeff" + SHORT.replace("\n", "\r\n"), SHORT.replace("\n", ",\n")]
)
def test_times_count_from_the_first_submission(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["0", "1"]
    assert jobs["submit_s"].tolist() == [0.0, 2065.0]
    assert jobs["model"].tolist() == ["cifar10", "ncf"]
    assert jobs["num_gpus"].tolist() == [1, 8]
    assert jobs["iterations"].tolist() == [2011.0, 1548.0]
    assert jobs["duration_s"].tolist() == [5644.0, 66.0]
    assert trace.notes == (
        "columns that are not read: ddl, batch_size",
        "times count from the first submission, at 3715485 s",
    )


def test_the_longer_header(tmp_path: Path) -> None:
    trace = read(tmp_path, LONG)
    assert trace.jobs["submit_s"].tolist() == [0.0, 219316.0]
    assert trace.jobs["iterations"].tolist() == [1282877.0, 26446831.0]
    assert trace.jobs["duration_s"].tolist() == [976570.0, 1792395.0]
    assert trace.notes == (
        "columns that are not read: real_iteration, ddl, batch_size, real_duration",
    )


def test_a_share_has_whole_jobs(tmp_path: Path) -> None:
    assert read(tmp_path, SHORT, share=0.8).read == 1


@pytest.mark.parametrize(
    ("row", "key", "problem"),
    [
        ("1,-1,1548,ncf,3717583,32768,8,66", "submit_time", "the value is '-1'"),
        ("1,inf,1548,ncf,3717583,32768,8,66", "submit_time", "the value is 'inf'"),
        ("0,3717550,1548,ncf,3717583,32768,8,66", "job_id", "job '0' has the id of another job"),
        ("1,3717550,0,ncf,3717583,32768,8,66", "iteration", "job '1' has 0 iterations"),
        ("1,3717550,1548,ncf,3717583,32768,0,66", "num_gpu", "job '1' has 0 GPUs"),
        ("1,3717550,1548,ncf,3717583,32768,8,", "duration", "the value is ''"),
        ("1,3717550,1548,ncf,3717583,32768,8,-5", "duration", "job '1' has -5 s"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, row: str, key: str, problem: str
) -> None:
    header, first, _ = SHORT.splitlines()
    error = refusal(tmp_path, f"{header}\n{first}\n{row}\n")
    assert (error.line, error.key, error.problem) == (3, key, problem)


@settings(max_examples=40)
@given(data=damaged(SHORT.encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged"
    check_read_or_refused(read_elasticflow_trace, file, data)
