"""Gavel's traces: both of their forms, what is kept, what is said, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.gavel_trace import read_gavel_trace
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

TEN = (
    "ResNet-50 (batch size 64)\tpython3 main.py -j 4 -a resnet50 -b 64 %s/imagenet/\t"
    "image_classification/imagenet\t--num_minibatches\t1\t41840\t2\t5\t1.2\t64.5\n"
    "A3C\tpython3 main.py --env \"Pong, v4\" --comment 'two words' \trl\t--max-steps\t0\t690\t4\t1"
    "\t-1.000000\t0.000000\n"
)
SEVEN = (
    "Transformer (batch size 128)\tcd %s/translation && python3 train.py -batch_size 128 \t-step\t1"
    "\t95121\t6.000000\t4\n"
    "CycleGAN\tcd %s/cyclegan && python3 cyclegan.py\t--n_steps\t1\t71711\t17.000000\t1\n"
)


def read(directory: Path, text: str | bytes, share: float = 1.0) -> JobTrace:
    file = directory / "jobs.trace"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_gavel_trace(file, ReadOptions(share=share))


def refusal(directory: Path, text: str) -> BadInputError:
    return refusal_of(directory / "jobs.trace", read, directory, text)


def test_ten_fields(tmp_path: Path) -> None:
    trace = read(tmp_path, TEN)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["gavel-1", "gavel-0"]
    assert jobs["model"].tolist() == ["A3C", "ResNet-50 (batch size 64)"]
    assert jobs["submit_s"].tolist() == [0.0, 64.5]
    assert jobs["num_gpus"].tolist() == [4, 2]
    assert jobs["iterations"].tolist() == [690.0, 41840.0]
    assert jobs["line"].tolist() == [2, 1]
    assert jobs["duration_s"].isna().all()
    assert (trace.format, trace.read, trace.reordered, trace.began) == ("gavel", 2, 1, None)


def test_priorities_and_objectives_are_said_to_be_left(tmp_path: Path) -> None:
    assert read(tmp_path, TEN).notes == (
        "jobs with a priority_weight other than 1, which is not kept: 1",
        "jobs with an SLO, which is not kept: 1",
    )
    assert read(tmp_path, TEN.splitlines()[1]).notes == ()


def test_the_older_seven_fields(tmp_path: Path) -> None:
    trace = read(tmp_path, SEVEN)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["gavel-0", "gavel-1"]
    assert jobs["model"].tolist() == ["Transformer (batch size 128)", "CycleGAN"]
    assert jobs["submit_s"].tolist() == [6.0, 17.0]
    assert jobs["num_gpus"].tolist() == [4, 1]
    assert jobs["iterations"].tolist() == [95121.0, 71711.0]
    assert trace.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + TEN,
        TEN.replace("\n", "\r\n"),
        TEN.replace("\n", "\t\n"),
        TEN.replace("\n", "\n\n"),
        "\n" + TEN,
    ],
)
def test_how_lines_begin_and_end_does_not_matter(tmp_path: Path, text: str) -> None:
    columns = ["job", "model", "submit_s", "num_gpus", "iterations"]
    expected = read(tmp_path, TEN).jobs[columns]
    assert read(tmp_path, text).jobs[columns].equals(expected)


def test_a_share_has_whole_jobs(tmp_path: Path) -> None:
    trace = read(tmp_path, SEVEN * 50, share=0.1)
    assert (len(trace.jobs), trace.read, trace.share) == (10, 10, 0.1)


@pytest.mark.parametrize(
    ("old", "new", "key", "problem"),
    [
        ("\t0\t690\t", "\tyes\t690\t", "needs_data_dir", "the value is 'yes'"),
        ("\t690\t", "\tmany\t", "total_steps", "the value is 'many'"),
        ("\t690\t", "\t0\t", "total_steps", "job 'gavel-1' has 0 iterations"),
        ("\t690\t4\t", "\t690\t0\t", "scale_factor", "job 'gavel-1' has 0 GPUs"),
        ("\t690\t4\t", "\t690\t1.5\t", "scale_factor", "job 'gavel-1' has 1.5 GPUs"),
        ("\t0.000000", "\t-3", "arrival_time", "job 'gavel-1' has -3 s"),
        ("\t-1.000000", "\tnone", "SLO", "the value is 'none'"),
        ("\t690\t4\t1\t", "\t690\t4\t\t", "priority_weight", "the value is ''"),
        ("A3C", " ", "job_type", "the value is ' '"),
        ("\trl", "", None, "the number of fields is 9"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, old: str, new: str, key: str | None, problem: str
) -> None:
    error = refusal(tmp_path, "\n" + TEN.replace(old, new))
    assert (error.line, error.key, error.problem) == (3, key, problem)


def test_a_first_row_with_other_fields_is_refused_with_both_forms(tmp_path: Path) -> None:
    error = refusal(tmp_path, "\n" + TEN.replace("\trl", "").splitlines()[1])
    assert (error.line, error.problem) == (2, "the number of fields is 9")
    assert error.allowed.startswith("10: job_type, command, working_directory")
    assert ", or 7: job_type, command, num_steps_arg" in error.allowed


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    for text in ("", "\n", "\r\n\n"):
        assert refusal(tmp_path, text).problem == "there is no row"


@settings(max_examples=40)
@given(data=damaged((TEN + SEVEN).encode()) | damaged(SEVEN.encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged"
    check_read_or_refused(read_gavel_trace, file, data)
