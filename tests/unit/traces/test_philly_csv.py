"""The short Philly trace: what is read, what is left out and said, what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.philly_csv import read_philly_csv
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

REAL_FILE = Path(__file__).parents[4] / "shared" / "data" / "philly" / "philly.csv"

HEADER = "timestamp,duration,num_gpus,gpu_time,cluster\n"
FIRST = "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
EARLIER = "2017-10-09 06:13:03,2951.5,4,11806.0,6214e9\n"


def read(directory: Path, text: str) -> JobTrace:
    file = directory / "philly.csv"
    file.write_text(text, encoding="utf-8")
    return read_philly_csv(file)


def refusal(directory: Path, text: str) -> BadInputError:
    return refusal_of(directory / "philly.csv", read, directory, text)


def test_jobs_are_named_by_their_place_and_times_count_from_the_earliest(tmp_path: Path) -> None:
    trace = read(tmp_path, HEADER + FIRST + EARLIER)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["philly-1", "philly-0"]
    assert jobs["submit_s"].tolist() == [0.0, 2932.0]
    assert jobs["duration_s"].tolist() == [2951.5, 66.0]
    assert jobs["num_gpus"].tolist() == [4, 1]
    assert jobs["virtual_cluster"].tolist() == ["6214e9", "11cb48"]
    assert jobs["line"].tolist() == [3, 2]
    assert jobs[["model", "iterations", "user"]].isna().all(axis=None)
    assert (trace.format, trace.read, trace.reordered) == ("philly-csv", 2, 1)
    assert trace.began == "2017-10-09T06:13:03"
    assert (trace.notes, dict(trace.left_out)) == ((), {})


def test_jobs_that_ran_for_no_time_are_left_out_and_counted(tmp_path: Path) -> None:
    nothing = EARLIER.replace("2951.5", "0.0")
    trace = read(tmp_path, HEADER + nothing + FIRST + nothing + EARLIER.replace(":03", ":55"))
    assert trace.jobs["job"].tolist() == ["philly-3", "philly-1"]
    assert trace.jobs["submit_s"].tolist() == [0.0, 2880.0]
    assert trace.read == 4
    assert trace.began == "2017-10-09T06:13:55"
    assert trace.left_out == {"drop-zero-duration": 2}


def test_a_file_whose_jobs_all_ran_for_no_time_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, HEADER + FIRST.replace(",66.0", ",0")).problem == "there is no job"


def test_rows_that_are_equal_are_jobs_of_their_own(tmp_path: Path) -> None:
    assert read(tmp_path, HEADER + FIRST + FIRST).jobs["job"].tolist() == ["philly-0", "philly-1"]


def test_blank_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    trace = read(tmp_path, HEADER + "\n" + FIRST + "\n")
    assert trace.jobs["line"].tolist() == [3]
    assert trace.jobs["job"].tolist() == ["philly-0"]
    assert trace.read == 1
    assert trace.notes[0] == "blank lines left out: 2"


@pytest.mark.parametrize(
    ("row", "key", "problem"),
    [
        ("2017-10-09,66.0,1,66.0,v", "timestamp", "the value is '2017-10-09'"),
        ("2017-13-09 07:01:55,6,1,6,v", "timestamp", "the value is '2017-13-09 07:01:55'"),
        (",66.0,1,66.0,v", "timestamp", "the value is ''"),
        ("None,66.0,1,66.0,v", "timestamp", "the value is 'None'"),
        ("2017-10-09 07:01:55 PDT,66.0,1,66.0,v", "timestamp", None),
        ("2017-10-09 07:01:55,-3,1,66.0,v", "duration", "job 'philly-1' has -3 s"),
        ("2017-10-09 07:01:55,inf,1,66.0,v", "duration", "job 'philly-1' has inf s"),
        ("2017-10-09 07:01:55,long,1,66.0,v", "duration", "the value is 'long'"),
        ("2017-10-09 07:01:55,,1,66.0,v", "duration", "the value is ''"),
        ("2017-10-09 07:01:55,6,0,66.0,v", "num_gpus", "job 'philly-1' has 0 GPUs"),
        ("2017-10-09 07:01:55,6,1.5,66.0,v", "num_gpus", "job 'philly-1' has 1.5 GPUs"),
        ("2017-10-09 07:01:55,6,x,66.0,v", "num_gpus", "the value is 'x'"),
        ("2017-10-09 07:01:55,6,1,66.0,", "cluster", "the value is ''"),
        ("2017-10-09 07:01:55,6,1,66.0", None, "the number of fields is 4"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, row: str, key: str | None, problem: str | None
) -> None:
    error = refusal(tmp_path, f"{HEADER}{FIRST}\n{row}\n{EARLIER}")
    assert (error.line, error.key) == (4, key)
    assert error.problem == (problem or f"the value is {row.partition(',')[0]!r}")


@pytest.mark.parametrize(
    "header", ["", "timestamp,duration\n", HEADER.replace("cluster", "vc"), "\n" + HEADER]
)
def test_another_header_is_refused(tmp_path: Path, header: str) -> None:
    error = refusal(tmp_path, header + FIRST)
    assert (error.line, error.problem) == (1, "the first line is another one")
    assert error.allowed == HEADER.strip()


@pytest.mark.parametrize("text", ["", HEADER, HEADER.strip()])
def test_a_file_without_jobs_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text).problem == "there is no row"


def test_a_mark_carriage_returns_and_separators_at_the_end_change_nothing(tmp_path: Path) -> None:
    wanted = read(tmp_path, HEADER + FIRST + EARLIER).jobs
    text = "\ufeff" + (HEADER + FIRST + EARLIER).replace("\n", ",\r\n")
    assert read(tmp_path, text).jobs.equals(wanted)


def test_of_a_share_the_rest_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "philly.csv"
    file.write_bytes((HEADER + FIRST * 100).encode() + b"\xff" * 3000)
    trace = read_philly_csv(file, ReadOptions(share=0.25))
    assert trace.read == math.floor((file.stat().st_size * 0.25 - len(HEADER)) / len(FIRST))
    with pytest.raises(BadInputError, match="is not UTF-8 text"):
        read_philly_csv(file)


@settings(max_examples=40)
@given(data=damaged((HEADER + FIRST + EARLIER).encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    check_read_or_refused(read_philly_csv, tmp_path_factory.getbasetemp() / "damaged", data)


@pytest.mark.data
def test_the_real_trace() -> None:
    if not REAL_FILE.exists():
        pytest.skip("the real traces are not beside this checkout")
    trace = read_philly_csv(REAL_FILE)
    jobs = trace.jobs
    assert len(jobs) == trace.read == 82_247
    assert trace.notes == ("blank lines left out: 1",)
    assert trace.began == "2017-09-04T10:30:41"
    assert trace.reordered == 44_878
    assert jobs["submit_s"].iloc[0] == 0.0
    assert jobs["submit_s"].is_monotonic_increasing
    # To 2017-12-22 08:02:11: 108 days, 21 hours, 31 minutes and 30 seconds.
    assert jobs["submit_s"].iloc[-1] == 9_408_690.0
    assert jobs["duration_s"].min() == 1.0
    sizes = jobs["num_gpus"].value_counts()
    assert (sizes[1], sizes[8], sizes.index.max()) == (76_627, 1_643, 128)
    assert jobs["virtual_cluster"].nunique() == 15
    first = jobs.set_index("job").loc["philly-0"]
    assert (first["line"], first["duration_s"], first["virtual_cluster"]) == (2, 66.0, "11cb48")
    assert jobs["line"].max() == 82_248
