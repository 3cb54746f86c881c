"""Plain CSV: with a trace's own columns, with a mapping file, and what is refused of either."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.csv_jobs import RULES, read_csv_jobs
from traces.formats.csv_mapping import example_mapping, read_mapping
from traces.job_trace import JOB_COLUMNS, JobTrace
from traces.trace_format import ReadOptions

OWN = (
    "submit_s,job,num_gpus,duration_s,user,state,line\n"
    "60,b,2,90.5,ann,completed,7\n"
    '0,"a, the first",1,30,,,8\n'
)
MAPPING = """\
separator: ";"
empty: ["", NA]
columns:
  job: id
  submit_s: {column: sent, unit: iso}
  num_gpus: gpus
  duration_s: {column: took, unit: min}
  memory_bytes: {column: mem, unit: GiB}
  gpu_type: {value: V100}
  state:
    column: how
    words: {OK: completed, ERR: failed}
"""
TABLE = (
    "id;sent;gpus;took;mem;how;other\n"
    "1;2024-03-01 10:00:00;4;1.5;16;OK;x\n"
    "2;2024-03-01 09:00:00;1;NA;NA;ERR;x\n"
    '"3";2024-03-01T09:30:00.5;2;2;;;"x;y"\n'
    "4;2024-03-01 09:00:00;0;2;1;OK;x\n"
    "5;2024-03-01 09:00:00;1;0;1;OK;x\n"
    "6;2024-03-01 09:00:00;1;-1;1;OK;x\n"
)
SMALL = "columns:\n  submit_s: sent\n  num_gpus: gpus\n  duration_s: took\n"


def read(
    directory: Path, text: str, mapping: str | None = None, share: float = 1.0, **rules: bool
) -> JobTrace:
    file, described = directory / "jobs.csv", directory / "columns.yaml"
    file.write_text(text, encoding="utf-8", newline="")
    if mapping is not None:
        described.write_text(mapping, encoding="utf-8")
    named = {name.replace("_", "-"): on for name, on in rules.items()}
    options = ReadOptions(named, share, None if mapping is None else described)
    return read_csv_jobs(file, options)


def refusal(directory: Path, text: str, mapping: str | None = None, **rules: bool) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read(directory, text, mapping, **rules)
    return caught.value


def test_own_columns_are_read_as_they_are(tmp_path: Path) -> None:
    trace = read(tmp_path, OWN)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["a, the first", "b"]
    assert jobs["submit_s"].tolist() == [0.0, 60.0]
    assert jobs["duration_s"].tolist() == [30.0, 90.5]
    assert jobs["state"].isna().tolist() == [True, False]
    assert jobs["line"].tolist() == [3, 2]
    assert (trace.format, trace.read, trace.began) == ("csv", 2, None)
    assert trace.notes == ("columns that are not read: line",)


def test_a_trace_that_is_written_as_csv_comes_back(tmp_path: Path) -> None:
    trace = read(tmp_path, TABLE, MAPPING)
    again = read(tmp_path, trace.jobs.to_csv(index=False))
    assert again.jobs.drop(columns="line").equals(trace.jobs.drop(columns="line"))


def test_a_mapping_says_which_column_is_which(tmp_path: Path) -> None:
    trace = read(tmp_path, TABLE, MAPPING)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["3", "1"]
    assert jobs["submit_s"].tolist() == [0.0, 1799.5]
    assert jobs["num_gpus"].tolist() == [2, 4]
    assert jobs["duration_s"].tolist() == [120.0, 90.0]
    assert jobs["memory_bytes"].tolist()[1] == 16 * 2.0**30
    assert math.isnan(jobs["memory_bytes"][0])
    assert jobs["gpu_type"].tolist() == ["V100", "V100"]
    assert jobs["state"].isna().tolist() == [True, False]
    assert jobs["line"].tolist() == [4, 2]
    assert trace.left_out == {
        "drop-without-work": 1,
        "drop-without-gpus": 1,
        "drop-zero-duration": 1,
        "drop-negative-duration": 1,
    }
    assert (trace.read, trace.began) == (6, "2024-03-01T09:30:00.500000")
    assert trace.notes[0] == "columns that are not read: other"
    assert trace.notes[1].startswith("columns by the mapping columns.yaml, SHA-256 ")


@pytest.mark.parametrize(
    ("sent", "unit", "began"),
    [
        ("1700000000", "epoch", "2023-11-14T22:13:20+00:00"),
        ("1700000000000", "epoch-ms", "2023-11-14T22:13:20+00:00"),
        ("1700000000000000", "epoch-us", "2023-11-14T22:13:20+00:00"),
        ("2024-03-01T10:00:00+01:00", "iso", "2024-03-01T09:00:00+00:00"),
        ("2024-03-01T10:00:00Z", "iso", "2024-03-01T10:00:00+00:00"),
        ("2024-03-01 10:00", "iso", "2024-03-01T10:00:00"),
        ("01/03/2024 10:00", '"%d/%m/%Y %H:%M"', "2024-03-01T10:00:00"),
        ("01/03/2024 10:00 -0100", '"%d/%m/%Y %H:%M %z"', "2024-03-01T11:00:00+00:00"),
        ("01/03/2024 10:00 UTC", '"%d/%m/%Y %H:%M %Z"', "2024-03-01T10:00:00+00:00"),
        ("2024-07-01 10:00:00", "iso, time_zone: Europe/Berlin", "2024-07-01T08:00:00+00:00"),
        ("2024-07-01 10:00:00Z", "iso, time_zone: Europe/Berlin", "2024-07-01T10:00:00+00:00"),
    ],
)
def test_submissions_that_are_instants(tmp_path: Path, sent: str, unit: str, began: str) -> None:
    mapping = SMALL.replace("sent", f"{{column: sent, unit: {unit}}}")
    trace = read(tmp_path, f"sent,gpus,took\n{sent},1,60\n", mapping)
    assert (trace.began, trace.jobs["submit_s"].tolist()) == (began, [0.0])


@pytest.mark.parametrize(
    ("sent", "unit"),
    [
        ("1e300", "epoch"),
        ("inf", "epoch"),
        ("0001-01-01T00:00:00+14:00", "iso"),
        ("0001-01-01T00:00:00", "iso, time_zone: Europe/Berlin"),
    ],
)
def test_an_instant_before_or_after_all_years_is_refused(
    tmp_path: Path, sent: str, unit: str
) -> None:
    mapping = SMALL.replace("sent", f"{{column: sent, unit: {unit}}}")
    error = refusal(tmp_path, f"sent,gpus,took\n{sent},1,60\n", mapping)
    assert (error.line, error.key) == (2, "sent")


@pytest.mark.parametrize(
    ("unit", "seconds"), [("us", 2e-6), ("ms", 0.002), ("s", 2), ("min", 120), ("h", 7200)]
)
def test_submissions_that_count_from_any_zero_are_kept(
    tmp_path: Path, unit: str, seconds: float
) -> None:
    mapping = SMALL.replace("sent", f"{{column: sent, unit: {unit}}}")
    trace = read(tmp_path, "sent,gpus,took\n2,1,60\n", mapping)
    assert (trace.began, trace.jobs["submit_s"].tolist()) == (None, [seconds])
    assert trace.jobs["job"].tolist() == ["job-0"]


def test_hours_that_clocks_repeat_or_skip_are_counted(tmp_path: Path) -> None:
    mapping = SMALL.replace("sent", "{column: sent, unit: iso, time_zone: Europe/Berlin}")
    rows = "2024-10-27 02:30:00,1,1\n2024-03-31 02:30:00,1,1\n2024-03-31 01:59:00,1,1\n"
    trace = read(tmp_path, "sent,gpus,took\n" + rows, mapping)
    assert trace.jobs["submit_s"].tolist() == [0.0, 60.0, 18_145_860.0]
    assert "submissions in an hour that the clocks repeat or skip: 2" in trace.notes


def test_lengths_of_time_between_two_columns(tmp_path: Path) -> None:
    mapping = SMALL.replace("took", "{begin: started, end: ended, unit: iso}")
    mapping += "  queue_s: {begin: sent, end: started, unit: iso}\n"
    mapping = mapping.replace("submit_s: sent", "submit_s: {column: sent, unit: iso}")
    row = "2024-03-01 10:00:00,2024-03-01 10:01:00,2024-03-01 11:01:00,1\n"
    waits = "2024-03-01 10:00:00,,,1\n"
    trace = read(tmp_path, "sent,started,ended,gpus\n" + waits + row, mapping)
    assert trace.jobs["duration_s"].tolist() == [3600.0]
    assert trace.jobs["queue_s"].tolist() == [60.0]
    assert trace.left_out == {"drop-without-work": 1}
    mixed = row.replace("11:01:00", "11:01:00Z")
    error = refusal(tmp_path, "sent,started,ended,gpus\n" + mixed, mapping)
    assert (error.line, error.key) == (2, "ended")


def test_a_file_without_a_first_line_of_names(tmp_path: Path) -> None:
    mapping = "names: [sent, gpus, took]\n" + SMALL
    assert read(tmp_path, "1,2,3\n4,5,6\n", mapping).jobs["line"].tolist() == [1, 2]
    error = refusal(tmp_path, "1,2,3\n4,5\n", mapping)
    assert (error.line, error.problem) == (2, "the number of fields is 2")


def test_a_share_is_read_in_whole_rows(tmp_path: Path) -> None:
    text = "sent,gpus,took\n" + "10,1,60\n" * 100
    trace = read(tmp_path, text, SMALL, share=0.3)
    assert 25 < len(trace.jobs) == trace.read < 31


def test_the_example_is_a_mapping(tmp_path: Path) -> None:
    file = tmp_path / "columns.yaml"
    file.write_text(example_mapping())
    mapping = read_mapping(file)
    assert set(mapping.spec.columns) <= set(JOB_COLUMNS)
    header = ",".join(mapping.read_columns)
    row = "7,2024-07-01T10:00:00,4,2024-07-01T11:00:00,2024-07-01T12:00:00,16,ann,KILLED\n"
    trace = read(tmp_path, f"{header}\n{row}", example_mapping())
    (job,) = trace.jobs.to_dict("records")
    assert (job["duration_s"], job["state"], job["user"]) == (3600.0, "cancelled", "ann")
    assert trace.began == "2024-07-01T08:00:00+00:00"


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ("columns:", "column:", 3, "column"),
        ("  job: id\n", "  jobs: id\n", 4, "columns.jobs"),
        ("  job: id\n", "  line: id\n", 4, "columns.line"),
        ("  job: id\n", "  job: {value: same}\n", 4, "columns.job.value"),
        ("  num_gpus: gpus\n", "", 3, "columns"),
        ("  num_gpus: gpus\n", "  num_gpus: {value: two}\n", 6, "columns.num_gpus.value"),
        ("  num_gpus: gpus\n", "  num_gpus: {value: .nan}\n", 6, "columns.num_gpus.value"),
        ("num_gpus: gpus\n", f"num_gpus: {{value: {'9' * 400}}}\n", 6, "columns.num_gpus.value"),
        ("  num_gpus: gpus\n", "  num_gpus: {column: gpus, unit: s}\n", 6, "columns.num_gpus.unit"),
        ("  num_gpus: gpus\n", "  num_gpus: {column: gpus, value: 2}\n", 6, "columns.num_gpus"),
        ("  num_gpus: gpus\n", "  num_gpus: {}\n", 6, "columns.num_gpus"),
        ("  num_gpus: gpus\n", "  num_gpus: 4\n", 6, "columns.num_gpus"),
        ("column: took, unit: min", "begin: sent, unit: iso", 7, "columns.duration_s"),
        ("unit: iso", "begin: took", 5, "columns.submit_s"),
        ("column: sent, unit: iso", "begin: sent, end: took", 5, "columns.submit_s.begin"),
        ("unit: min", "unit: minutes", 7, "columns.duration_s.unit"),
        ("unit: min", "unit: iso", 7, "columns.duration_s.unit"),
        ("unit: iso", 'unit: "%Q"', 5, "columns.submit_s.unit"),
        ("unit: iso", "unit: iso, time_zone: Mars", 5, "columns.submit_s.time_zone"),
        ("unit: iso", "unit: s, time_zone: UTC", 5, "columns.submit_s.time_zone"),
        ("unit: GiB", "unit: GiB, words: {a: failed}", 8, "columns.memory_bytes.words"),
        ("{OK: completed", "{OK: done", 12, "columns.state.words.OK"),
        ("gpu_type: {value: V100}", "gpu_type: {value: 100}", 9, "columns.gpu_type.value"),
        ("  num_gpus: gpus\n", "  gpus: gpus\n", 6, "columns.gpus"),
        ('separator: ";"', "separator: ';;'", 1, "separator"),
        ('separator: ";"', "separator: '\"'", 1, "separator"),
        ('separator: ";"', "names: [a, a]", 1, "names"),
        ('separator: ";"', "names: [id]", 5, "columns.submit_s"),
    ],
)
def test_a_bad_mapping_is_refused_by_line_and_key(
    tmp_path: Path, old: str, new: str, line: int, key: str
) -> None:
    assert old in MAPPING
    error = refusal(tmp_path, TABLE, MAPPING.replace(old, new))
    assert (error.file, error.line, error.key) == (tmp_path / "columns.yaml", line, key)


def test_a_state_of_all_jobs_is_one_of_a_trace(tmp_path: Path) -> None:
    assert read(tmp_path, "sent,gpus,took\n1,2,3\n", SMALL + "  state: {value: failed}\n")
    error = refusal(tmp_path, "sent,gpus,took\n1,2,3\n", SMALL + "  state: {value: done}\n")
    assert (error.line, error.key) == (5, "columns.state.value")


@pytest.mark.parametrize("text", ["", "- a\n", "columns: [\n", "columns: {}\n", "columns: 4\n"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, TABLE, text).file == tmp_path / "columns.yaml"


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "problem"),
    [
        ("1;2024", "3;2024", 4, "id", "job '3' has the id of another job"),
        ("1;2024", ";2024", 2, "id", "a job has an empty text"),
        ("2024-03-01 10:00:00", "10 o'clock", 2, "sent", 'the value is "10 o\'clock"'),
        ("2024-03-01 10:00:00", "NA", 2, "sent", "the value is 'NA'"),
        ("2024-03-01 10:00:00", "2024-03-01 10:00:00Z", 3, "sent", None),
        (";4;1.5", ";four;1.5", 2, "gpus", "the value is 'four'"),
        (";4;1.5", ";1.5;1.5", 2, "gpus", "job '1' has 1.5 GPUs"),
        (";4;1.5", ";NA;1.5", 2, "gpus", "job '1' has no value"),
        (";4;1.5", ";4;1e99", 2, "took", "job '1' has 6e+100 s"),
        (";4;1.5", ";4;nan", 2, "took", "the value is 'nan'"),
        (";16;OK", ";-1;OK", 2, "mem", "job '1' has -1073741824 bytes"),
        (";16;OK", ";16;completed", 2, "how", "the value is 'completed'"),
        ("id;sent", "no;sent", 1, "id", "the column 'id' is not there"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, old: str, new: str, line: int, key: str, problem: str | None
) -> None:
    assert old in TABLE
    error = refusal(tmp_path, TABLE.replace(old, new, 1), MAPPING)
    assert (error.file, error.line, error.key) == (tmp_path / "jobs.csv", line, key)
    assert problem in (None, error.problem)


def test_a_rule_that_is_off_refuses_what_a_trace_cannot_hold(tmp_path: Path) -> None:
    for number, rule in enumerate(RULES[:4]):
        off = {rule.name: False}
        error = refusal(tmp_path, TABLE, MAPPING, **off)
        assert error.line == (3, 5, 6, 7)[number]


@pytest.mark.parametrize("text", ["", "\n", "a,b\n1,2\n", OWN.replace("num_gpus", "gpus"), '"\n'])
def test_other_columns_need_a_mapping(tmp_path: Path, text: str) -> None:
    error = refusal(tmp_path, text)
    assert error.line == 1
    assert "mapping file" in error.allowed


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(TABLE.encode()))
def test_whatever_is_damaged_is_refused_as_bad_input(tmp_path: Path, content: bytes) -> None:
    options = ReadOptions(mapping=tmp_path / "columns.yaml")
    (tmp_path / "columns.yaml").write_text(MAPPING)
    check_read_or_refused(lambda file: read_csv_jobs(file, options), tmp_path / "jobs.csv", content)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(MAPPING.encode()) | damaged(example_mapping().encode()))
def test_a_damaged_mapping_is_refused_as_bad_input(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "columns.yaml").write_bytes(content)
    with contextlib.suppress(BadInputError):
        assert read_mapping(tmp_path / "columns.yaml").spec.columns
