"""Acme's two traces: zones, times that are absent, what each rule does, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.acme_trace import read_acme_trace
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

SEREN_HEADER = (
    "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
    "queue,gpu_time\n"
)
FAILED = (
    "57,u59,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,"
    "2023-03-01 00:20:51+08:00,117,32,936.0"
)
DONE = (
    "58,u59,1,8,128,SFT,COMPLETED,2023-02-28 16:23:58+00:00,2023-03-01 00:24:11+08:00,"
    "2023-03-01 01:09:04+08:00,2693,13,21544.0"
)
NO_GPUS = (
    "59,u1,1,0,4,Other,COMPLETED,2023-03-01 00:10:00+08:00,2023-03-01 00:10:00+08:00,"
    "2023-03-01 00:11:00+08:00,60,0,0.0"
)
NO_TIME = (
    "60,u1,1,2,4,Debug,CANCELLED,2023-03-01 00:10:00+08:00,2023-03-01 00:10:00+08:00,"
    "2023-03-01 00:10:00+08:00,0,0,0.0"
)
BACKWARDS = (
    "61,u1,1,2,4,Debug,NODE_FAIL,2023-03-01 00:10:00+08:00,2023-03-01 00:10:05+08:00,"
    "2023-03-01 00:10:00+08:00,-5,5,0.0"
)
NEVER = "62,u1,1,2,4,Eval,CANCELLED,2023-03-01 00:10:00+08:00,,2023-03-01 00:10:09+08:00,,,"
RUNNING = "63,u1,1,2,4,Eval,RUNNING,2023-03-01 00:10:00+08:00,2023-03-01 00:10:01+08:00,,,1,"
EARLY = (
    "64,,1,2,,Eval,TIMEOUT,2023-03-01 01:00:00+08:00,2023-03-01 00:59:57+08:00,"
    "2023-03-01 01:00:00.5+08:00,3.5,-3,7.0"
)
SEREN = "\n".join(
    (SEREN_HEADER + FAILED, DONE, NO_GPUS, NO_TIME, BACKWARDS, NEVER, RUNNING, EARLY, "")
)
KALOS = (
    "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,"
    "start_time,end_time,fail_time,stop_time,duration,queue,gpu_time\n"
    "dlck,uf7,8,64,960,1000,100.0,Other,FAILED,2023-05-17 11:00:58+00:00,"
    "2023-05-17 11:01:08+00:00,2023-05-17 11:01:16+00:00,2023-05-17 11:01:16+00:00,,18,10.0,1152\n"
    "dlc1,uf7,8,64,960,,100.0,Other,CANCELLED,2023-05-17 11:28:42+00:00,"
    "2023-05-17 11:28:54+00:00,2023-05-17 11:30:04+00:00,,2023-05-17 11:30:04+00:00,82,12.0,5248\n"
)


def read(directory: Path, text: str, **rules: bool) -> JobTrace:
    file = directory / "trace.csv"
    file.write_text(text, encoding="utf-8")
    options = {name.replace("_", "-"): wanted for name, wanted in rules.items()}
    return read_acme_trace(file, ReadOptions(rules=options))


def refusal(directory: Path, text: str, **rules: bool) -> BadInputError:
    return refusal_of(directory / "trace.csv", read, directory, text, **rules)


@pytest.mark.parametrize(
    "text", [SEREN, "\ufeff" + SEREN.replace("\n", "\r\n"), SEREN.replace("\n", ",\n")]
)
def test_times_of_any_zone_are_one_time(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["57", "58", "64"]
    assert trace.began == "2023-02-28T16:18:22+00:00"
    assert jobs["submit_s"].tolist() == [0.0, 336.0, 2498.0]
    assert jobs["duration_s"].tolist() == jobs["executed_s"].tolist() == [117.0, 2693.0, 3.5]
    assert jobs["queue_s"].tolist()[:2] == [32.0, 13.0]
    assert jobs["num_gpus"].tolist() == [8, 8, 2]
    assert jobs["cpus"].tolist()[:2] == [128.0, 128.0]
    assert jobs["user"].tolist()[:2] == ["u59", "u59"]
    assert jobs["state"].tolist() == ["failed", "completed", "timeout"]
    assert jobs["line"].tolist() == [2, 3, 9]
    assert jobs["memory_bytes"].isna().all()
    assert jobs.iloc[2][["user", "cpus", "queue_s"]].isna().all()
    assert trace.notes == ("columns that are not read: type, queue, gpu_time",)


def test_kalos_has_memory_and_its_durations_are_not_taken(tmp_path: Path) -> None:
    trace = read(tmp_path, KALOS)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["dlck", "dlc1"]
    assert jobs["duration_s"].tolist() == [8.0, 70.0]
    assert jobs["queue_s"].tolist() == [10.0, 12.0]
    assert jobs["memory_bytes"].fillna(-1).tolist() == [8e12, -1]
    assert jobs["num_gpus"].tolist() == [64, 64]
    assert trace.began == "2023-05-17T11:00:58+00:00"
    assert trace.notes[1] == (
        "jobs whose duration is not end_time - start_time: 2 of 2; the times are taken"
    )


def test_each_rule_is_counted_and_the_counts_add_up(tmp_path: Path) -> None:
    trace = read(tmp_path, SEREN)
    assert trace.read == 8
    assert dict(trace.left_out) == {
        "drop-never-started": 1,
        "drop-unfinished": 1,
        "drop-without-gpus": 1,
        "drop-zero-duration": 1,
        "drop-negative-duration": 1,
    }
    assert dict(trace.changed) == {"clear-negative-queue": 1}
    assert trace.read == len(trace.jobs) + sum(trace.left_out.values())


@pytest.mark.parametrize(
    ("row", "rule", "key", "problem"),
    [
        (NEVER, "drop_never_started", "end_time - start_time", "job '62' has no value"),
        (RUNNING, "drop_unfinished", "end_time - start_time", "job '63' has no value"),
        (NO_GPUS, "drop_without_gpus", "gpu_num", "job '59' has 0 GPUs"),
        (NO_TIME, "drop_zero_duration", "end_time - start_time", "job '60' has 0 s"),
        (BACKWARDS, "drop_negative_duration", "end_time - start_time", "job '61' has -5 s"),
        (EARLY, "clear_negative_queue", "start_time - submit_time", "job '64' has -3 s"),
    ],
)
def test_without_its_rule_a_job_is_refused(
    tmp_path: Path, row: str, rule: str, key: str, problem: str
) -> None:
    rules = {rule: False}
    if rule == "drop_never_started":
        rules["drop_unfinished"] = False
    error = refusal(tmp_path, f"{SEREN_HEADER}{FAILED}\n{row}\n", **rules)
    assert (error.line, error.key, error.problem) == (3, key, problem)


def test_a_job_that_still_ran_can_be_said_so(tmp_path: Path) -> None:
    # With an end, as an extract can have it.
    running = RUNNING.replace(",,,1,", ",2023-03-01 00:10:09+08:00,8,1,16")
    assert read(tmp_path, f"{SEREN_HEADER}{running}\n").jobs["state"].tolist() == ["running"]


def test_a_share_has_whole_jobs(tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_text(SEREN)
    assert read_acme_trace(file, ReadOptions(share=0.4)).read == 2


@pytest.mark.parametrize(
    ("old", "new", "key", "problem"),
    [
        ("2023-02-28 16:23:58+00:00", "2023-02-28 16:23:58", "submit_time", None),
        ("2023-02-28 16:23:58+00:00", "2023-02-30 16:23:58+00:00", "submit_time", None),
        ("2023-02-28 16:23:58+00:00", "2023", "submit_time", None),
        ("2023-02-28 16:23:58+00:00", "", "submit_time", "the value is ''"),
        ("2023-03-01 00:24:11+08:00", "None", "start_time", "the value is 'None'"),
        ("2023-03-01 01:09:04+08:00", "soon", "end_time", "the value is 'soon'"),
        ("COMPLETED", "DONE", "state", "the value is 'DONE'"),
        (",8,128,", ",x,128,", "gpu_num", "the value is 'x'"),
        (",2693,", ",x,", "duration", "the value is 'x'"),
        ("58,", "57,", "job_id", "job '57' has the id of another job"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, old: str, new: str, key: str, problem: str | None
) -> None:
    error = refusal(tmp_path, f"{SEREN_HEADER}{FAILED}\n\n{DONE.replace(old, new, 1)}\n")
    assert (error.line, error.key) == (4, key)
    assert error.problem == (problem or f"the value is {new!r}")


@settings(max_examples=40)
@given(data=damaged(SEREN.encode()) | damaged(KALOS.encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged"
    check_read_or_refused(read_acme_trace, file, data)
