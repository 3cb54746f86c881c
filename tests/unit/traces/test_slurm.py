"""Slurm's accounting: what fields mean, steps and attempts, what is left out, what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.slurm import RULES, read_slurm
from traces.formats.slurm_fields import elapsed_s, memory, resources
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

GIB = 2.0**30
SLURM_SECONDS = "ElapsedRaw|ReqTRES|State|Start|Submit|Restarts|JobID\n42|gres/gpu=1|FAILED|1|"

HEADER = "JobID|JobName|User|Partition|State|Submit|Start|Elapsed|AllocTRES|ReqTRES|Restarts\n"
# Two jobs that ended, one of an array that did not, one that was cancelled before it started, one
# without GPUs; steps; a name with quotation marks; attempts of a job that was requeued twice.
JOBS = (
    HEADER + "100|train|ann|gpu|COMPLETED|2024-03-01T10:00:00|2024-03-01T10:05:00|1-02:03:04|"
    "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1|cpu=8,gres/gpu=2,mem=32G,node=1|0\n"
    "100.batch|batch|||COMPLETED|2024-03-01T10:05:00|2024-03-01T10:05:00|1-02:03:04|"
    "cpu=8,gres/gpu=2,mem=64G,node=1||\n"
    "100.extern|extern|||COMPLETED|2024-03-01T10:05:00|2024-03-01T10:05:00|1-02:03:04|||\n"
    '\n101_4|"eval" it|bob|gpu|RUNNING|2024-03-01T09:00:00|2024-03-01T09:00:30|03:04|'
    "gres/gpu:v100=1,cpu=4|gres/gpu=1|0\n"
    "102|x|bob|gpu|CANCELLED by 1000|2024-03-01T08:00:00|None|00:00:00||gres/gpu=4|0\n"
    "103|prep|cho|cpu|FAILED|2024-03-01T08:00:00|2024-03-01T08:00:00|00:10:00|cpu=2,mem=4G||0\n"
    "104|big|cho|gpu|NODE_FAIL|2024-03-01T11:00:00|2024-03-01T11:10:00|00:20:00|gres/gpu=8||0\n"
    "104|big|cho|gpu|REQUEUED|2024-03-01T11:30:00|2024-03-01T11:40:00|00:00:40|gres/gpu=8||1\n"
    "104|big|cho|gpu|TIMEOUT|2024-03-01T11:41:00|2024-03-01T12:00:00|02:00:00|gres/gpu=8||2\n"
    "101_[5-9]|eval|bob|gpu|PENDING|2024-03-01T09:00:00|Unknown|00:00:00||gres/gpu=1|0\n"
)
ROW = "7|x|ann|gpu|COMPLETED|2024-03-01T10:00:00|2024-03-01T10:05:00|01:00|gres/gpu=2||0\n"


def read(directory: Path, text: str, **rules: bool) -> JobTrace:
    file = directory / "sacct.txt"
    file.write_bytes(text.encode())
    named = {name.replace("_", "-"): on for name, on in rules.items()}
    return read_slurm(file, ReadOptions(rules=named))


def refusal(directory: Path, text: str, **rules: bool) -> BadInputError:
    return refusal_of(directory / "sacct.txt", read, directory, text, **rules)


def with_field(field: str, value: str) -> str:
    """ROW with ``value`` in ``field``."""
    fields = dict(zip(HEADER.strip().split("|"), ROW.strip().split("|"), strict=True))
    return "|".join((fields | {field: value}).values()) + "\n"


def test_jobs_are_those_that_had_gpus_and_ran(tmp_path: Path) -> None:
    trace = read(tmp_path, JOBS)
    jobs = trace.jobs.set_index("job")
    assert jobs.index.tolist() == ["101_4", "100", "104"]
    assert jobs["submit_s"].tolist() == [0.0, 3600.0, 7200.0]
    assert jobs["num_gpus"].tolist() == [1, 2, 8]
    assert jobs["gpu_type"].tolist()[:2] == ["v100", "a100"]
    assert jobs["duration_s"].tolist() == [184.0, 93_784.0, 7200.0]
    assert jobs["queue_s"].tolist() == [30.0, 300.0, 600.0]
    assert jobs["state"].tolist() == ["running", "completed", "timeout"]
    assert jobs["user"].tolist() == ["bob", "ann", "cho"]
    assert jobs["virtual_cluster"].tolist() == ["gpu"] * 3
    assert jobs["line"].tolist() == [6, 2, 11]
    assert (jobs["cpus"]["100"], jobs["memory_bytes"]["100"]) == (8.0, 64 * GIB)
    assert math.isnan(jobs["memory_bytes"]["104"])
    assert (trace.format, trace.read, trace.began) == ("slurm", 10, "2024-03-01T09:00:00")


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    trace = read(tmp_path, JOBS)
    assert trace.left_out == {
        "drop-steps": 2,
        "merge-requeued": 2,
        "drop-never-started": 2,
        "drop-without-gpus": 1,
    }
    assert trace.read == len(trace.jobs) + sum(trace.left_out.values())
    assert trace.notes == (
        "blank lines left out: 1",
        "columns that are not read: JobName",
        "jobs that had not ended, with their run times until then: 1",
    )


def test_attempts_of_a_requeued_job_are_one_job(tmp_path: Path) -> None:
    job = read(tmp_path, JOBS).jobs.set_index("job").loc["104"]
    assert (job["executed_s"], job["duration_s"], job["attempts"]) == (8440.0, 7200.0, 3.0)


def test_an_attempt_that_waits_is_not_the_one_that_counts(tmp_path: Path) -> None:
    waits = ROW.replace("COMPLETED", "PENDING").replace("T10:05:00", "").replace("T10:0", "T11:0")
    waits = waits.replace("|2024-03-01|", "|Unknown|").replace("|0\n", "|1\n")
    (job,) = read(tmp_path, HEADER + waits + ROW).jobs.to_dict("records")
    assert (job["line"], job["duration_s"], job["queue_s"], job["attempts"]) == (3, 60, 300, 1)


@pytest.mark.parametrize("ending", ["|\n", "\n", "\r\n", "|\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_both_forms_of_lines_are_read(tmp_path: Path, start: str, ending: str) -> None:
    trace = read(tmp_path, start + JOBS.replace("\n", ending).replace("\n|", "\n"))
    assert trace.jobs.equals(read(tmp_path, JOBS).jobs)


def test_columns_in_another_order_and_raw_seconds(tmp_path: Path) -> None:
    header = "Start|ElapsedRaw|ReqTRES|Submit|State|JobID\n"
    row = "1700000060|42|gres/gpu=1|1700000000|OUT_OF_MEMORY|9\n"
    trace = read(tmp_path, header + row)
    (job,) = trace.jobs.to_dict("records")
    assert (job["duration_s"], job["queue_s"], job["state"]) == (42.0, 60.0, "out-of-memory")
    assert math.isnan(job["attempts"])
    assert trace.began == "2023-11-14T22:13:20+00:00"


def test_times_with_an_offset_are_those_of_utc(tmp_path: Path) -> None:
    zoned = ROW.replace(":00|", ":00+01:00|", 2)
    assert read(tmp_path, HEADER + zoned).began == "2024-03-01T09:00:00+00:00"
    later = ROW.replace("7|", "8|", 1)
    error = refusal(tmp_path, HEADER + zoned + later)
    assert (error.line, error.key) == (3, "Submit")
    half = ROW.replace(":00|", ":00+01:00|", 1)
    assert refusal(tmp_path, HEADER + half).key == "Start"


def test_seconds_that_are_no_instant_are_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, f"{SLURM_SECONDS}99999999999999|1|9\n")
    assert (error.line, error.key) == (2, "Submit")


def test_a_clock_that_is_set_back_leaves_no_negative_wait(tmp_path: Path) -> None:
    early = HEADER + with_field("Start", "2024-03-01T09:30:00")
    trace = read(tmp_path, early)
    assert math.isnan(trace.jobs["queue_s"][0])
    assert trace.changed == {"clear-negative-queue": 1}
    assert refusal(tmp_path, early, clear_negative_queue=False).key == "Start"


def test_a_negative_run_time_is_left_out(tmp_path: Path) -> None:
    header = HEADER.replace("Elapsed", "ElapsedRaw")
    rows = ROW.replace("|01:00|", "|60|") + ROW.replace("|01:00|", "|-60|").replace("7|", "8|", 1)
    assert read(tmp_path, header + rows).left_out == {"drop-negative-duration": 1}


def test_memory_of_each_node_and_of_each_cpu(tmp_path: Path) -> None:
    header = HEADER.strip() + "|ReqMem|NNodes|ReqCPUS\n"
    for amount, gib in (("4Gn", 8.0), ("4Gc", 24.0), ("16G", 16.0), ("512M", 0.5), ("", math.nan)):
        row = f"{ROW.strip()}|{amount}|2|6\n"
        found = read(tmp_path, header + row).jobs["memory_bytes"][0] / GIB
        assert found == gib or (math.isnan(found) and math.isnan(gib))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("03:04", 184.0),
        ("02:03:04", 7384.0),
        ("1-02:03:04", 93784.0),
        ("00:01.250", 1.25),
        ("4", None),
        ("-1:00", None),
        ("1-2", None),
        ("INVALID", None),
    ],
)
def test_elapsed(text: str, seconds: float | None) -> None:
    found = elapsed_s(text)
    assert math.isnan(found) if seconds is None else found == seconds


def test_resources_count_gpus_of_all_types_once() -> None:
    for text, gpus, gpu_type in (
        ("gres/gpu=4,gres/gpu:a100=4", 4, "a100"),
        ("gres/gpu:a100=1,gres/gpu:v100=2", 3, "a100+v100"),
        ("cpu=4,gres/gpumem=10G,gres/shard=2", 0, None),
        ("", 0, None),
    ):
        found = resources(text)
        assert found is not None
        assert (found.gpus, found.gpu_type) == (gpus, gpu_type)
    for text in ("gres/gpu=x", "cpu=-1", "mem=2X", "gres/gpu:a100", "cpu="):
        assert resources(text) is None
    plain = resources("mem=2048")
    assert plain is not None
    assert plain.memory_bytes == 2 * GIB
    assert memory("4Gcn") is None
    assert memory("c") is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("JobID", ""),
        ("State", "DONE"),
        ("Submit", "Unknown"),
        ("Submit", "yesterday"),
        ("Start", "12:00 tomorrow"),
        ("Elapsed", "60 s"),
        ("AllocTRES", "gres/gpu=two"),
        ("AllocTRES", f"gres/gpu={'9' * 5000}"),
        ("Restarts", "never"),
        ("Restarts", "-5"),
    ],
)
def test_a_bad_field_is_refused_by_line_and_column(tmp_path: Path, field: str, value: str) -> None:
    error = refusal(tmp_path, HEADER + ROW.replace("7|", "6|", 1) + with_field(field, value))
    assert (error.line, error.key) == (3, field)


def test_a_rule_that_is_off_refuses_what_a_trace_cannot_hold(tmp_path: Path) -> None:
    assert refusal(tmp_path, JOBS, merge_requeued=False).problem.endswith("the id of another job")
    for rule, key in (("drop_never_started", "Elapsed"), ("drop_without_gpus", "AllocTRES")):
        error = refusal(tmp_path, JOBS, **{rule: False, "drop_zero_duration": False})
        assert error.key == key
    with_steps = read(tmp_path, HEADER + ROW + ROW.replace("7|", "7.batch|", 1), drop_steps=False)
    assert with_steps.jobs["job"].tolist() == ["7", "7.batch"]


@pytest.mark.parametrize(
    ("header", "lacking"),
    [
        (HEADER.replace("JobID", "Job"), "JobID"),
        (HEADER.replace("Start", "Begin"), "Start"),
        (HEADER.replace("Elapsed", "Time"), "ElapsedRaw"),
        (HEADER.replace("TRES", "GRES"), "AllocTRES"),
    ],
)
def test_a_field_that_is_needed(tmp_path: Path, header: str, lacking: str) -> None:
    error = refusal(tmp_path, header + ROW)
    assert error.line == 1
    assert lacking in error.problem


def test_a_name_with_the_separator_breaks_its_row(tmp_path: Path) -> None:
    error = refusal(tmp_path, HEADER + ROW + with_field("JobName", "a|b"))
    assert (error.line, error.problem) == (3, "the number of fields is 12")


def test_a_share_is_read_in_whole_rows(tmp_path: Path) -> None:
    file = tmp_path / "sacct.txt"
    file.write_text(HEADER + "".join(ROW.replace("7|", f"{job}|", 1) for job in range(100)))
    trace = read_slurm(file, ReadOptions(share=0.5))
    assert 40 < len(trace.jobs) == trace.read < 60


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_is_damaged_is_refused_as_bad_input(tmp_path: Path, data: st.DataObject) -> None:
    off = data.draw(st.sets(st.sampled_from([rule.name for rule in RULES])))
    options = ReadOptions(rules=dict.fromkeys(off, False))
    content = data.draw(damaged(JOBS.encode()))
    check_read_or_refused(lambda file: read_slurm(file, options), tmp_path / "sacct.txt", content)
