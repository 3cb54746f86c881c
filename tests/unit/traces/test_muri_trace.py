"""Muri's traces and measured results: units, the two amounts of work, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.muri_trace import read_muri_results, read_muri_trace
from traces.job_trace import JobTrace

REAL_DATA = Path(__file__).parents[4] / "shared" / "data" / "muri"

HEADER = (
    "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,"
    "resource_time_0,resource_time_1,resource_time_2,priority\n"
)
# 20 iterations of 500 ms take 10 s.
ROW = "0,8,1500,20,gpt2,4,10000,91000,500,0.6,419,49,0\n"

RESULT_HEADER = (
    "time,job_id,num_gpu,submit_time,start_time,end_time,executed_time,real_executed_time,JCT,"
    "duration,pending_time,job_counter,promote\n"
)
RESULT = "90.5,1,8,10.5,20.5,90.5,70.0,60.0,80.0,281.0,20.0,1,0\n"


def write(directory: Path, text: str) -> Path:
    file = directory / "muri.csv"
    file.write_text(text, encoding="utf-8")
    return file


def read(directory: Path, text: str) -> JobTrace:
    return read_muri_trace(write(directory, text))


def real_file(name: str) -> Path:
    file = REAL_DATA / name
    if not file.exists():
        pytest.skip("the real traces are not beside this checkout")
    return file


def test_milliseconds_become_seconds(tmp_path: Path) -> None:
    trace = read(tmp_path, HEADER + ROW)
    (job,) = trace.jobs.to_dict("records")
    assert (job["job"], job["model"], job["num_gpus"], job["line"]) == ("0", "gpt2", 8, 2)
    assert (job["submit_s"], job["iterations"], job["duration_s"]) == (1.5, 20.0, 10.0)
    assert (trace.format, trace.read, trace.reordered, trace.notes) == ("muri", 1, 0, ())


def test_a_mark_carriage_returns_and_separators_at_the_end_change_nothing(tmp_path: Path) -> None:
    wanted = read(tmp_path, HEADER + ROW).jobs
    text = "\ufeff" + (HEADER + ROW).replace("\n", ",\r\n")
    assert read(tmp_path, text).jobs.equals(wanted)


@pytest.mark.parametrize(
    ("iterations", "differ"),
    [(20, 0), (19, 0), (21, 0), (18, 1), (22, 1)],
)
def test_two_amounts_of_work_that_differ_are_kept_and_said(
    tmp_path: Path, iterations: int, differ: int
) -> None:
    other = ROW.replace("0,8,1500,20,", f"1,8,1500,{iterations},")
    trace = read(tmp_path, HEADER + ROW + other)
    assert trace.jobs["iterations"].tolist() == [20.0, iterations]
    assert trace.jobs["duration_s"].tolist() == [10.0, 10.0]
    said = [
        "jobs whose iterations x iteration_time is more than 1% and one iteration off their "
        "duration: 1 of 2; both are kept as given"
    ]
    assert list(trace.notes) == said * differ


def test_a_long_job_may_be_one_percent_off(tmp_path: Path) -> None:
    long = ROW.replace(",20,gpt2,4,10000,", ",{},gpt2,4,10000000,")
    assert read(tmp_path, HEADER + long.format(20_190)).notes == ()
    assert len(read(tmp_path, HEADER + long.format(20_210)).notes) == 1


@pytest.mark.parametrize(
    ("old", "new", "key", "problem"),
    [
        ("1500", "-1500", "submit_time", "job '1' has -1.5 s"),
        ("1500", "soon", "submit_time", "the value is 'soon'"),
        (",20,", ",0,", "iterations", "job '1' has 0 iterations"),
        (",20,", ",,", "iterations", "the value is ''"),
        ("10000", "0", "duration", "job '1' has 0 s"),
        ("10000", "x", "duration", "the value is 'x'"),
        ("10000", "None", "duration", "the value is 'None'"),
        ("10000", "-10000", "duration", "job '1' has -10 s"),
        (",500,", ",x,", "iteration_time", "the value is 'x'"),
        ("1,8,", "1,0,", "num_gpu", "job '1' has 0 GPUs"),
        ("1,8,", "1,8.5,", "num_gpu", "job '1' has 8.5 GPUs"),
        ("gpt2", "", "model_name", "the value is ''"),
        ("1,8,", "0,8,", "job_id", "job '0' has the id of another job"),
        (",49,0", ",49", None, "the number of fields is 12"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, old: str, new: str, key: str | None, problem: str
) -> None:
    sound = ROW.replace("0,8,", "1,8,", 1)
    assert sound.count(old) == 1
    with pytest.raises(BadInputError) as caught:
        read(tmp_path, HEADER + ROW + sound.replace(old, new))
    error = caught.value
    assert (error.file, error.line) == (tmp_path / "muri.csv", 3)
    assert (error.key, error.problem) == (key, problem)


def test_another_header_is_refused(tmp_path: Path) -> None:
    for text in (ROW, RESULT_HEADER + RESULT, HEADER.replace(",priority", "") + ROW):
        with pytest.raises(BadInputError) as caught:
            read(tmp_path, text)
        assert (caught.value.line, caught.value.allowed) == (1, HEADER.strip())


@settings(max_examples=40)
@given(data=damaged((HEADER + ROW).encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    check_read_or_refused(read_muri_trace, tmp_path_factory.getbasetemp() / "damaged", data)


def test_results_say_what_was_measured(tmp_path: Path) -> None:
    results = read_muri_results(write(tmp_path, RESULT_HEADER + RESULT))
    assert results.to_dict("records") == [
        {
            "job": "1",
            "num_gpus": 8,
            "submit_s": 10.5,
            "start_s": 20.5,
            "finish_s": 90.5,
            "jct_s": 80.0,
            "executed_s": 60.0,
        }
    ]
    assert results["num_gpus"].dtype == np.int64


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("job_id", "1"),
        ("job_id", ""),
        ("num_gpu", "0"),
        ("num_gpu", "1.5"),
        ("num_gpu", "inf"),
        ("num_gpu", "x"),
        ("submit_time", "-1"),
        ("submit_time", "inf"),
        ("submit_time", "x"),
        ("start_time", "10.4"),
        ("end_time", "20.4"),
        ("end_time", "inf"),
        ("JCT", "80.1"),
        ("JCT", "inf"),
        ("real_executed_time", "70.1"),
        ("real_executed_time", "-1"),
        ("real_executed_time", "nan"),
    ],
)
def test_a_bad_result_is_refused_by_line_and_column(
    tmp_path: Path, column: str, value: str
) -> None:
    names = RESULT_HEADER.strip().split(",")
    fields = dict(zip(names, RESULT.strip().split(","), strict=True)) | {"job_id": "2"}
    bad = ",".join((fields | {column: value}).values())
    file = write(tmp_path, f"{RESULT_HEADER}{RESULT}{','.join(fields.values())}\n")
    assert len(read_muri_results(file)) == 2
    with pytest.raises(BadInputError) as caught:
        read_muri_results(write(tmp_path, f"{RESULT_HEADER}{RESULT}\n{bad}\n"))
    error = caught.value
    assert (error.file, error.line, error.key) == (file, 4, column)
    assert error.problem == f"the value is {value!r}"


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "jobs", "differ"),
    [
        ("simulator/trace-data/trace1.csv", 1494, 0),
        ("cluster_exp/trace-data/cluster_trace.csv", 400, 350),
    ],
)
def test_real_traces(name: str, jobs: int, differ: int) -> None:
    trace = read_muri_trace(real_file(name))
    assert len(trace.jobs) == trace.read == jobs
    assert trace.reordered == 0
    assert trace.jobs["model"].nunique() == 8
    assert trace.jobs["num_gpus"].max() == 32
    assert len(trace.notes) == (differ > 0)
    assert all(f"{differ} of {jobs}" in note for note in trace.notes)


@pytest.mark.data
@pytest.mark.parametrize(
    ("policy", "mean_jct_s", "end_s"),
    [
        # As the experiment printed them, in results/POLICY/result.out.
        ("SRTF", 249140.176953, 4156633.262890),
        ("SRSF", 238612.092932, 4223121.821402),
    ],
)
def test_real_results_belong_to_the_real_trace(
    policy: str, mean_jct_s: float, end_s: float
) -> None:
    results = read_muri_results(real_file(f"cluster_exp/results/{policy}/job.csv"))
    assert results["jct_s"].mean() == pytest.approx(mean_jct_s, abs=1e-5)
    assert results["finish_s"].max() == pytest.approx(end_s, abs=1e-5)
    trace = read_muri_trace(real_file("cluster_exp/trace-data/cluster_trace.csv"))
    submitted = ["job", "num_gpus", "submit_s"]
    pd.testing.assert_frame_equal(
        results[submitted].sort_values("job", ignore_index=True),
        trace.jobs[submitted].sort_values("job", ignore_index=True),
        check_dtype=False,
    )
    assert (results["executed_s"] < results["finish_s"] - results["start_s"] - 1).any()
