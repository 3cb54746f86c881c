"""Jobs come in order of submission; a bad one is refused by line and column."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.refusal import refusal_of
from traces.errors import BadInputError
from traces.job_trace import JOB_COLUMNS, JobTrace, checked_trace

FILE = Path("jobs.csv")


def frame(**changes: Any) -> pd.DataFrame:
    """Three sound jobs of the lines 2, 3 and 5; ``...`` for a column takes it away."""
    columns: dict[str, Any] = {
        "job": ["a", "b", "c"],
        "submit_s": [0.0, 1.5, 7.0],
        "num_gpus": [1, 8, 2],
        "iterations": [10.0, 20.0, 30.0],
        "line": [2, 3, 5],
    } | changes
    return pd.DataFrame({name: value for name, value in columns.items() if value is not ...})


def checked(jobs: pd.DataFrame, **options: Any) -> JobTrace:
    return checked_trace(jobs, **({"source": "a test", "format": "toy", "file": FILE} | options))


def refusal(jobs: pd.DataFrame, **options: Any) -> BadInputError:
    return refusal_of(FILE, checked, jobs, **options)


def test_absent_columns_are_filled_and_all_have_their_types() -> None:
    jobs = checked(frame(line=...)).jobs
    assert list(jobs.columns) == list(JOB_COLUMNS)
    assert [str(dtype) for dtype in jobs.dtypes] == [one.dtype for one in JOB_COLUMNS.values()]
    assert jobs["line"].tolist() == [0, 0, 0]
    assert jobs[["model", "user", "virtual_cluster", "duration_s"]].isna().all(axis=None)
    assert jobs["num_gpus"].tolist() == [1, 8, 2]
    assert jobs["iterations"].tolist() == [10.0, 20.0, 30.0]


def test_a_trace_says_what_it_was_made_of() -> None:
    trace = checked(frame(), read=5, notes=("two left out",))
    assert (trace.source, trace.format, trace.read) == ("a test", "toy", 5)
    assert trace.notes == ("two left out",)
    assert checked(frame()).read == 3


def test_jobs_are_put_in_order_of_submission_and_equal_ones_keep_theirs() -> None:
    ids = [f"job-{number}" for number in range(40)]
    submit_s = [5.0] * 20 + [3.0] * 20
    trace = checked(
        pd.DataFrame({"job": ids, "submit_s": submit_s, "num_gpus": 1, "duration_s": 1})
    )
    assert trace.jobs["job"].tolist() == ids[20:] + ids[:20]
    assert trace.jobs.index.tolist() == list(range(40))
    assert trace.reordered == 1


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=30))
def test_no_job_is_lost_or_changed_by_the_order(submit_s: list[float]) -> None:
    lines = range(1, len(submit_s) + 1)
    jobs = pd.DataFrame({"job": [str(line) for line in lines], "submit_s": submit_s, "line": lines})
    trace = checked(jobs.assign(num_gpus=1, duration_s=2.0))
    assert trace.jobs["submit_s"].is_monotonic_increasing
    given_s = dict(zip(jobs["job"], submit_s, strict=True))
    assert dict(zip(trace.jobs["job"], trace.jobs["submit_s"], strict=True)) == given_s
    assert trace.jobs["line"].astype("string").tolist() == trace.jobs["job"].tolist()
    assert (trace.reordered == 0) == (submit_s == sorted(submit_s))


def test_each_job_may_have_one_amount_of_work_or_both() -> None:
    nan = math.nan
    jobs = checked(frame(iterations=[10.0, nan, 5.0], duration_s=[nan, 2.0, 3.0])).jobs
    assert jobs["iterations"].fillna(-1).tolist() == [10.0, -1.0, 5.0]
    assert jobs["duration_s"].fillna(-1).tolist() == [-1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        ({"submit_s": [0.0, math.nan, 1.0]}, "submit_s", "no value"),
        ({"submit_s": [0.0, math.inf, 1.0]}, "submit_s", "inf s"),
        ({"submit_s": [0.0, -0.5, 1.0]}, "submit_s", "-0.5 s"),
        ({"num_gpus": [1, 0, 1]}, "num_gpus", "0 GPUs"),
        ({"num_gpus": [1, -3, 1]}, "num_gpus", "-3 GPUs"),
        ({"num_gpus": [1, 1.5, 1]}, "num_gpus", "1.5 GPUs"),
        ({"num_gpus": [1, math.nan, 1]}, "num_gpus", "no value"),
        ({"num_gpus": [1, math.inf, 1]}, "num_gpus", "inf GPUs"),
        ({"num_gpus": [1, 1e300, 1]}, "num_gpus", "1e+300 GPUs"),
        ({"num_gpus": [1, 1_000_001, 1]}, "num_gpus", "1000001 GPUs"),
        ({"iterations": [1.0, 0.0, 1.0]}, "iterations", "0 iterations"),
        ({"iterations": [1.0, -2.0, 1.0]}, "iterations", "-2 iterations"),
        ({"iterations": [1.0, math.nan, 1.0]}, "iterations", "no value"),
        ({"iterations": [1.0, math.inf, 1.0]}, "iterations", "inf iterations"),
        ({"iterations": [1.0, 0.0, 1.0], "duration_s": 4.0}, "iterations", "0 iterations"),
        ({"iterations": ..., "duration_s": [1.0, 0.0, 1.0]}, "duration_s", "0 s"),
        ({"iterations": ..., "duration_s": [1.0, -2.0, 1.0]}, "duration_s", "-2 s"),
        ({"iterations": ..., "duration_s": [1.0, math.nan, 1.0]}, "duration_s", "no value"),
        ({"iterations": ..., "duration_s": [1.0, math.inf, 1.0]}, "duration_s", "inf s"),
        ({"duration_s": [1.0, -math.inf, 1.0]}, "duration_s", "-inf s"),
        ({"model": ["m", "", "m"]}, "model", "an empty text"),
        ({"user": ["u", "", None]}, "user", "an empty text"),
        ({"virtual_cluster": [None, "", "v"]}, "virtual_cluster", "an empty text"),
    ],
)
def test_a_bad_value_is_refused_by_line_and_column(
    changes: dict[str, Any], key: str, value: str
) -> None:
    error = refusal(frame(**changes))
    assert (error.line, error.key) == (3, key)
    assert error.problem == f"job 'b' has {value}"


@pytest.mark.parametrize(
    ("ids", "line", "problem"),
    [
        (["a", "b", "a"], 5, "job 'a' has the id of another job"),
        (["a", "", "b"], 3, "job '' has an empty text"),
        (["a", None, "b"], 3, "a job has an empty text"),
    ],
)
def test_a_job_without_an_id_of_its_own_is_refused(
    ids: list[str | None], line: int, problem: str
) -> None:
    error = refusal(frame(job=ids))
    assert (error.line, error.key, error.problem) == (line, "job", problem)


def test_the_first_bad_row_of_the_source_is_named() -> None:
    error = refusal(frame(submit_s=[9.0, 5.0, 1.0], num_gpus=[1, -1, -2]))
    assert error.line == 3


def test_a_generated_job_has_no_line() -> None:
    error = refusal(frame(num_gpus=[1, 0, 1], line=...))
    assert error.line is None
    assert str(error).startswith("jobs.csv: num_gpus: job 'b' has 0 GPUs; allowed: a whole number")


def test_a_column_is_called_what_the_file_calls_it() -> None:
    error = refusal(frame(submit_s=[0.0, -1.0, 2.0]), names={"submit_s": "arrival"})
    assert error.key == "arrival"


@pytest.mark.parametrize("line", [[1, -2, 3], [1.0, 2.5, 3.0], [1.0, math.nan, 3.0]])
def test_what_is_no_line_number_is_refused(line: list[float]) -> None:
    assert refusal(frame(line=line)).key == "line"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"job": ...}, "lacks the column 'job'"),
        ({"submit_s": ...}, "lacks the column 'submit_s'"),
        ({"num_gpus": ...}, "lacks the column 'num_gpus'"),
        ({"iterations": ...}, "lacks both columns 'iterations' and 'duration_s'"),
        ({"job": [1, 2, 3]}, "is a column of int64"),
        ({"num_gpus": [True, True, True]}, "is a column of bool"),
        ({"colour": "red"}, "is another column"),
    ],
)
def test_other_columns_are_refused(changes: dict[str, Any], problem: str) -> None:
    assert refusal(frame(**changes)).problem == problem


def test_numbers_that_are_text_are_refused() -> None:
    error = refusal(frame(submit_s=["0", "1", "2"]))
    assert (error.key, error.allowed) == ("submit_s", "numbers")


def test_a_column_that_stands_twice_is_refused() -> None:
    twice = pd.concat([frame(), frame()[["num_gpus"]]], axis=1)
    assert (refusal(twice).key, refusal(twice).problem) == ("num_gpus", "stands twice")


def test_a_trace_without_jobs_is_refused() -> None:
    assert refusal(frame().head(0)).problem == "there is no job"


def test_a_trace_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        checked(frame()).read = 9  # type: ignore[misc]
