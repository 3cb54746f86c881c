"""Helios' logs: what is kept, what each cleaning rule does, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.helios_trace import read_helios_trace
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

HEADER = (
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
)
# They started and ended when they say, but for the odd ones.
DONE = (
    "11,uXB,vcJ,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0"
)
WAITED = (
    "12,uVM,vch,4,16,1,FAILED,2020-06-09 18:40:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,60"
)
NO_GPUS = (
    "13,uzq,vcp,0,8,1,CANCELLED,2020-06-09 18:30:00,2020-06-09 18:30:00,2020-06-09 18:30:09,9,0"
)
NO_TIME = (
    "14,uzq,vcp,8,8,1,CANCELLED,2020-06-09 18:31:00,2020-06-09 18:31:00,2020-06-09 18:31:00,0,0"
)
BACKWARDS = (
    "15,uzq,vcp,8,8,1,NODE_FAIL,2020-06-09 18:32:00,2020-06-09 18:32:00,2020-06-09 18:31:58,-2,0"
)
SUSPENDED = (
    "16,uzq,vcp,8,8,1,SUSPENDED,2020-06-09 18:33:00,2020-06-09 18:33:00,2020-06-09 18:33:05,5,0"
)
EARLY = "17,,,2,,1,TIMEOUT,2020-06-09 18:42:00,2020-06-09 18:41:57,2020-06-09 18:42:00,3,-3"
ALL = "\n".join((HEADER + DONE, WAITED, NO_GPUS, NO_TIME, BACKWARDS, SUSPENDED, EARLY, ""))


def read(directory: Path, text: str, **rules: bool) -> JobTrace:
    file = directory / "cluster_log.csv"
    file.write_text(text, encoding="utf-8")
    options = {name.replace("_", "-"): wanted for name, wanted in rules.items()}
    return read_helios_trace(file, ReadOptions(rules=options))


def refusal(directory: Path, text: str, **rules: bool) -> BadInputError:
    return refusal_of(directory / "cluster_log.csv", read, directory, text, **rules)


@pytest.mark.parametrize(
    "text", [ALL, "\ufeff" + ALL.replace("\n", "\r\n"), ALL.replace("\n", ",\n")]
)
def test_what_the_log_knows_is_kept(tmp_path: Path, text: str) -> None:
    trace = read(tmp_path, text)
    jobs = trace.jobs
    assert jobs["job"].tolist() == ["12", "11", "17"]
    assert jobs["submit_s"].tolist() == [0.0, 34.0, 93.0]
    assert jobs["num_gpus"].tolist() == [4, 1, 2]
    assert jobs["duration_s"].tolist() == jobs["executed_s"].tolist() == [249.0, 36848.0, 3.0]
    assert jobs["queue_s"].tolist()[:2] == [60.0, 0.0]
    assert jobs["user"].tolist()[:2] == ["uVM", "uXB"]
    assert jobs["virtual_cluster"].tolist()[:2] == ["vch", "vcJ"]
    assert jobs["cpus"].tolist()[:2] == [16.0, 1.0]
    assert jobs["state"].tolist() == ["failed", "completed", "timeout"]
    assert jobs["line"].tolist() == [3, 2, 8]
    assert trace.began == "2020-06-09T18:40:27"
    assert trace.notes == ("columns that are not read: node_num, start_time, end_time",)


def test_what_is_empty_is_not_known(tmp_path: Path) -> None:
    job = read(tmp_path, f"{HEADER}{EARLY}\n").jobs.iloc[0]
    assert job[["user", "virtual_cluster", "cpus", "queue_s"]].isna().all()


def test_each_rule_is_counted_and_the_counts_add_up(tmp_path: Path) -> None:
    trace = read(tmp_path, ALL)
    assert trace.read == 7
    assert dict(trace.left_out) == {
        "drop-suspended": 1,
        "drop-without-gpus": 1,
        "drop-zero-duration": 1,
        "drop-negative-duration": 1,
    }
    assert dict(trace.changed) == {"clear-negative-queue": 1}
    assert trace.read == len(trace.jobs) + sum(trace.left_out.values())


def test_the_first_rule_that_applies_counts(tmp_path: Path) -> None:
    trace = read(tmp_path, f"{HEADER}{DONE}\n{NO_GPUS.replace(',9,0', ',0,0')}\n")
    assert dict(trace.left_out) == {"drop-without-gpus": 1}


@pytest.mark.parametrize(
    ("row", "rule", "key", "problem"),
    [
        (NO_GPUS, "drop_without_gpus", "gpu_num", "job '13' has 0 GPUs"),
        (NO_TIME, "drop_zero_duration", "duration", "job '14' has 0 s"),
        (BACKWARDS, "drop_negative_duration", "duration", "job '15' has -2 s"),
        (EARLY, "clear_negative_queue", "queue", "job '17' has -3 s"),
    ],
)
def test_without_its_rule_a_job_is_refused(
    tmp_path: Path, row: str, rule: str, key: str, problem: str
) -> None:
    error = refusal(tmp_path, f"{HEADER}{DONE}\n{row}\n", **{rule: False})
    assert (error.line, error.key, error.problem) == (3, key, problem)


def test_a_suspended_job_can_be_kept_as_one_that_has_not_ended(tmp_path: Path) -> None:
    trace = read(tmp_path, f"{HEADER}{SUSPENDED}\n", drop_suspended=False)
    assert trace.jobs["state"].tolist() == ["running"]


def test_columns_stand_in_any_order_and_some_can_be_absent(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        "jobname,duration,submit_time,state,cpu_num,gpu_num,vc,user,job_id\n"
        "train,36848,2020-06-09 18:41:01,COMPLETED,1,1,vcJ,uXB,11\n",
    )
    assert trace.notes == ("columns that are not read: jobname",)
    assert trace.jobs["queue_s"].isna().all()
    assert trace.jobs["duration_s"].tolist() == [36848.0]


def test_a_share_has_whole_jobs(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text(ALL)
    assert read_helios_trace(file, ReadOptions(share=0.5)).read == 2


@pytest.mark.parametrize(
    ("old", "new", "key", "problem"),
    [
        ("FAILED", "BROKEN", "state", "the value is 'BROKEN'"),
        ("FAILED", "", "state", "the value is ''"),
        ("2020-06-09 18:40:27", "None", "submit_time", "the value is 'None'"),
        ("2020-06-09 18:40:27", "2020-06-31 18:40:27", "submit_time", None),
        ("2020-06-09 18:40:27", "2020-06-09 18:40:27+08:00", "submit_time", None),
        (",249,", ",,", "duration", "the value is ''"),
        (",249,", ",None,", "duration", "the value is 'None'"),
        (",16,", ",many,", "cpu_num", "the value is 'many'"),
        (",16,", ",-16,", "cpu_num", "job '12' has -16 CPUs"),
        ("12,", "11,", "job_id", "job '11' has the id of another job"),
        (",4,16,", ",4.5,16,", "gpu_num", "job '12' has 4.5 GPUs"),
    ],
)
def test_a_bad_row_is_refused_by_line_and_column(
    tmp_path: Path, old: str, new: str, key: str, problem: str | None
) -> None:
    error = refusal(tmp_path, f"{HEADER}{DONE}\n\n{WAITED.replace(old, new, 1)}\n")
    assert (error.line, error.key) == (4, key)
    assert error.problem == (problem or f"the value is {new!r}")


def test_a_log_without_a_job_to_keep_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, f"{HEADER}{NO_GPUS}\n").problem == "there is no job"


@settings(max_examples=40)
@given(data=damaged(ALL.encode()))
def test_damage_is_refused_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged"
    check_read_or_refused(read_helios_trace, file, data)
