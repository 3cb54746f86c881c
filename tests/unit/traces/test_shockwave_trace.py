"""Shockwave's traces: what is kept beyond Gavel's fields, what is said, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.shockwave_trace import read_shockwave_trace
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

ROWS = (
    "LM (batch size 10)\tpython3 main.py --cuda --data %s/wikitext2\tlanguage_modeling\t--steps\t1"
    "\t134583\t1\tgns\t1\t-1.000000\t1418\t0\n"
    'ResNet-18 (batch size 32)\tpython3 main.py --note "a, b"\timage_classification\t--num_steps\t1'
    "\t143450\t2\taccordion\t1\t-1.000000\t3338\t55\n"
    "Recommendation (batch size 512)\tpython3 train.py\trecommendation\t-n\t1\t121931\t4\tstatic\t1"
    "\t-1.000000\t720\t1322\n"
)


def read(directory: Path, text: str | bytes, share: float = 1.0) -> JobTrace:
    file = directory / "jobs.trace"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_shockwave_trace(file, ReadOptions(share=share))


def refusal(directory: Path, text: str) -> BadInputError:
    return refusal_of(directory / "jobs.trace", read, directory, text)


@pytest.mark.parametrize(
    "text", [ROWS, "\ufeff" + ROWS, ROWS.replace("\n", "\t\r\n"), ROWS.rstrip("\n")]
)
def test_jobs_have_steps_and_durations(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["shockwave-0", "shockwave-1", "shockwave-2"]
    assert jobs["model"].tolist()[0] == "LM (batch size 10)"
    assert jobs["submit_s"].tolist() == [0.0, 55.0, 1322.0]
    assert jobs["num_gpus"].tolist() == [1, 2, 4]
    assert jobs["iterations"].tolist() == [134583.0, 143450.0, 121931.0]
    assert jobs["duration_s"].tolist() == [1418.0, 3338.0, 720.0]
    assert trace.notes == (
        "jobs whose batch grows as they train; their work is that at the first batch: 2 of 3",
    )


def test_of_static_jobs_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert read(tmp_path, ROWS.splitlines()[2]).notes == ()


def test_a_share_has_whole_jobs(tmp_path: Path) -> None:
    assert read(tmp_path, ROWS, share=0.5).read == 1


@pytest.mark.parametrize(
    ("old", "new", "key", "problem"),
    [
        ("\tstatic\t", "\tmanual\t", "mode", "the value is 'manual'"),
        ("\t720\t", "\t0\t", "duration", "job 'shockwave-2' has 0 s"),
        ("\t720\t", "\t-720\t", "duration", "job 'shockwave-2' has -720 s"),
        ("\t720\t", "\tNone\t", "duration", "the value is 'None'"),
        ("\t121931\t", "\t\t", "total_steps", "the value is ''"),
        ("\t1322", "", None, "the number of fields is 11"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, old: str, new: str, key: str | None, problem: str
) -> None:
    error = refusal(tmp_path, ROWS.replace(old, new))
    assert (error.line, error.key, error.problem) == (3, key, problem)


@settings(max_examples=40)
@given(data=damaged(ROWS.encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged"
    check_read_or_refused(read_shockwave_trace, file, data)
