"""Alibaba's traces of 2020, 2023 and 2026: what is read, the rules, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.alibaba_2020 import JOB_TABLE, TASK_TABLE, read_alibaba_2020
from traces.formats.alibaba_2023 import read_alibaba_2023
from traces.formats.alibaba_2026 import read_alibaba_2026
from traces.formats.traces import read_jobs
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

MADE_UP_DATES = "the dates are made up; hours and days of the week are those of UTC+8"

JOBS = """\
j1,i1,u1,Terminated,201600.0,205300.0
j2,i2,,Failed,201000.0,201900.0
cpu,i3,u1,Terminated,201000.0,202000.0
alone,i4,u1,Terminated,201000.0,202000.0
run,i5,u2,Running,201000.0,
wait,i6,u2,Waiting,,
zero,i7,u2,Terminated,201000.0,201500.0
part,i8,u3,Terminated,202000.0,202600.0
"""
TASKS = """\
j1,ps,1.0,Terminated,201700.0,205000.0,600.0,29.296875,,MISC
j1,worker,2.0,Terminated,201650.0,205000.0,400.0,10.0,100.0,V100
j1,evaluator,1.0,Terminated,201800.0,205000.0,400.0,10.0,200.0,T4
j2,tensorflow,,Failed,200990.0,201900.0,,,100.0,P100
cpu,xgboost,4.0,Terminated,201000.0,202000.0,100.0,1.0,,CPU
run,worker,1.0,Running,201010.0,,600.0,29.3,100.0,T4
wait,worker,1.0,Waiting,,,600.0,29.3,100.0,T4
zero,worker,1.0,Terminated,201500.0,201500.0,600.0,29.3,100.0,T4
part,worker,3.0,Terminated,202000.0,202600.0,600.0,29.3,25.0,T4
other,worker,1.0,Terminated,202000.0,202600.0,600.0,29.3,25.0,T4
"""


def read_2020(
    directory: Path, jobs: str | bytes = JOBS, tasks: str | bytes = TASKS, **rules: bool
) -> JobTrace:
    for name, text in ((JOB_TABLE, jobs), (TASK_TABLE, tasks)):
        (directory / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    switched = {name.replace("_", "-"): on for name, on in rules.items()}
    return read_alibaba_2020(directory, ReadOptions(switched))


def refusal_2020(directory: Path, jobs: str = JOBS, tasks: str = TASKS) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read_2020(directory, jobs, tasks)
    return caught.value


def test_a_job_of_2020_has_all_instances_of_its_tasks(tmp_path: Path) -> None:
    trace = read_2020(tmp_path)
    assert trace.jobs["job"].tolist() == ["j2", "j1", "part"]
    job = trace.jobs.set_index("job").loc["j1"]
    assert (job["num_gpus"], job["gpu_type"]) == (4, "T4+V100")
    assert (job["cpus"], job["memory_bytes"]) == (18.0, (29.296875 + 30) * 2**30)
    assert (job["submit_s"], job["queue_s"]) == (600.0, 50.0)
    assert (job["duration_s"], job["executed_s"]) == (3650.0, 3650.0)
    assert (job["user"], job["state"], job["line"]) == ("u1", "completed", 1)
    assert trace.began == "1970-01-03T15:50:00"


def test_what_the_tables_of_2020_do_not_give_is_absent(tmp_path: Path) -> None:
    trace = read_2020(tmp_path)
    job = trace.jobs.set_index("job").loc["j2"]
    assert job[["user", "cpus", "memory_bytes", "queue_s"]].isna().all()
    assert (job["num_gpus"], job["gpu_type"], job["state"]) == (1, "P100", "failed")
    assert trace.notes == (
        MADE_UP_DATES,
        "tasks without a number of instances, taken as one: 1",
        f"tasks of jobs that {JOB_TABLE} lacks, not read: 1",
    )


def test_the_rules_of_2020_are_counted(tmp_path: Path) -> None:
    trace = read_2020(tmp_path)
    assert trace.left_out == {
        "drop-without-tasks": 1,
        "drop-unfinished": 2,
        "drop-without-gpus": 1,
        "drop-zero-duration": 1,
    }
    assert trace.changed == {"round-up-gpus": 1, "clear-negative-queue": 1}
    assert trace.jobs.set_index("job").loc["part", "num_gpus"] == 1
    assert trace.read == 8 == len(trace.jobs) + sum(trace.left_out.values())
    assert trace.source.count("SHA-256") == 2


@pytest.mark.parametrize(
    ("rule", "job", "key"),
    [
        ("drop_without_gpus", "cpu", "plan_gpu"),
        ("drop_unfinished", "wait", "start_time"),
        ("drop_zero_duration", "zero", "end_time"),
        ("clear_negative_queue", "j2", "start_time"),
        ("round_up_gpus", "part", "plan_gpu"),
    ],
)
def test_without_its_rule_a_job_of_2020_is_refused(
    tmp_path: Path, rule: str, job: str, key: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        read_2020(tmp_path, **{rule: False})
    line = 1 + [row.split(",")[0] for row in JOBS.splitlines()].index(job)
    assert (caught.value.file, caught.value.line) == (tmp_path / JOB_TABLE, line)
    assert caught.value.key == key
    assert repr(job) in caught.value.problem


def test_a_job_of_2020_without_tasks_has_no_start(tmp_path: Path) -> None:
    trace = read_2020(tmp_path, drop_without_tasks=False)
    assert trace.left_out["drop-unfinished"] == 3
    assert "drop-without-tasks" not in trace.left_out


def test_a_job_of_2020_that_ended_before_it_started_is_left_out(tmp_path: Path) -> None:
    trace = read_2020(tmp_path, JOBS.replace("201000.0,201500.0", "201000.0,201400.0"))
    assert trace.left_out["drop-negative-duration"] == 1
    assert "drop-zero-duration" not in trace.left_out


def test_a_time_of_0_is_none_in_2020(tmp_path: Path) -> None:
    trace = read_2020(tmp_path, JOBS.replace("202000.0,202600.0", "0.0,202600.0"))
    assert trace.left_out["drop-unfinished"] == 3


@pytest.mark.parametrize(
    ("table", "old", "new", "line", "key"),
    [
        (JOB_TABLE, "Failed", "Lost", 2, "status"),
        (JOB_TABLE, "205300.0", "soon", 1, "end_time"),
        (JOB_TABLE, "205300.0", "-5", 1, "end_time"),
        (JOB_TABLE, "j2,", ",", 2, "job_name"),
        (JOB_TABLE, "j2,", "j1,", 2, "job_name"),
        (JOB_TABLE, ",i2", "", 2, None),
        (TASK_TABLE, "10.0,100.0,V100", "10.0,half,V100", 2, "plan_gpu"),
        (TASK_TABLE, "10.0,100.0,V100", "10.0,-50,V100", 2, "plan_gpu"),
        (TASK_TABLE, "worker,2.0", "worker,inf", 2, "inst_num"),
        (TASK_TABLE, "j1,ps", ",ps", 1, "job_name"),
    ],
)
def test_a_bad_row_of_2020_is_refused_by_table_line_and_column(
    tmp_path: Path, table: str, old: str, new: str, line: int, key: str | None
) -> None:
    jobs = JOBS.replace(old, new, 1) if table == JOB_TABLE else JOBS
    tasks = TASKS.replace(old, new, 1) if table == TASK_TABLE else TASKS
    error = refusal_2020(tmp_path, jobs, tasks)
    assert (error.file, error.line, error.key) == (tmp_path / table, line, key)


def test_blank_lines_marks_and_separators_at_the_end_are_fine_in_2020(tmp_path: Path) -> None:
    wanted = read_2020(tmp_path).jobs
    jobs = "\ufeff" + JOBS.replace("\n", ",\r\n")
    assert read_2020(tmp_path, jobs, TASKS + "\n\n").jobs.equals(wanted)
    assert f"blank lines left out: 2 ({TASK_TABLE})" in read_jobs(tmp_path).notes


def test_a_directory_with_both_tables_is_told(tmp_path: Path) -> None:
    read_2020(tmp_path)
    assert read_jobs(tmp_path).format == "alibaba-2020"
    (tmp_path / TASK_TABLE).unlink()
    for format in (None, "alibaba-2020"):
        with pytest.raises(BadInputError, match="cannot be read: ") as caught:
            read_jobs(tmp_path, format)
        assert caught.value.file == tmp_path


def test_a_part_of_2020_is_refused(tmp_path: Path) -> None:
    read_2020(tmp_path)
    with pytest.raises(BadInputError, match="a part cannot be read"):
        read_alibaba_2020(tmp_path, ReadOptions(share=0.5))


PODS = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,12000,16384,1,1000,,LS,Running,50,12537496,50
p1,6000,12288,1,460,V100M16|V100M32,LS,Failed,60,160,75
p2,88000,327680,8,1000,,Burstable,Succeeded,40,140,45
cpu,20000,65536,0,0,,LS,Running,10,20,15
pending,11908,47104,1,1000,,BE,Pending,30,140,
none,11908,47104,1,1000,,BE,Failed,30,35,35
less,11908,47104,1,1000,,BE,Failed,30,34,35
"""


def read_2023(directory: Path, text: str | bytes = PODS, share: float = 1.0) -> JobTrace:
    file = directory / "pods.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_alibaba_2023(file, ReadOptions(share=share))


def test_the_pods_of_2023(tmp_path: Path) -> None:
    trace = read_2023(tmp_path)
    assert trace.jobs["job"].tolist() == ["p2", "p0", "p1"]
    assert trace.jobs["submit_s"].tolist() == [0.0, 10.0, 20.0]
    assert trace.jobs["queue_s"].tolist() == [5.0, 0.0, 15.0]
    assert trace.jobs["duration_s"].tolist() == [95.0, 12537446.0, 85.0]
    assert trace.jobs["num_gpus"].tolist() == [8, 1, 1]
    assert trace.jobs["cpus"].tolist() == [88.0, 12.0, 6.0]
    assert trace.jobs["memory_bytes"].iloc[1] == 2**34
    assert trace.jobs["gpu_type"].fillna("").tolist() == ["", "", "V100M16|V100M32"]
    assert trace.jobs["state"].tolist() == ["completed", "running", "failed"]
    assert trace.left_out == {
        "drop-without-gpus": 1,
        "drop-unfinished": 1,
        "drop-zero-duration": 1,
        "drop-negative-duration": 1,
    }
    assert trace.changed == {"round-up-gpus": 1}
    assert trace.notes == ("columns that are not read: qos",)
    assert (trace.read, trace.began) == (7, None)


def test_the_columns_of_2023_stand_in_any_order(tmp_path: Path) -> None:
    turned = "\r\n".join(",".join(row.split(",")[::-1]) + "," for row in PODS.splitlines())
    wanted = read_2023(tmp_path).jobs
    assert read_2023(tmp_path, turned).jobs.equals(wanted)


def test_a_share_of_2023(tmp_path: Path) -> None:
    trace = read_2023(tmp_path, share=0.5)
    whole_rows = PODS[: -(-len(PODS) // 2)].count("\n") - 1
    assert (trace.read, trace.share) == (whole_rows, 0.5)


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        ("Failed", "Evicted", 3, "pod_phase"),
        ("8,1000", "1.5,1000", 4, "num_gpu"),
        ("1,460", "1,0", 3, "gpu_milli"),
        ("1,460", "1,-3", 3, "gpu_milli"),
        ("6000,", ",", 3, "cpu_milli"),
        ("12288", "much", 3, "memory_mib"),
        ("60,160", "60,later", 3, "deletion_time"),
        ("60,160", "60,inf", 3, "deletion_time"),
        ("50,12537496", "inf,12537496", 2, "creation_time"),
        ("p1", "p0", 3, "name"),
    ],
)
def test_a_bad_pod_of_2023_is_refused_by_line_and_column(
    tmp_path: Path, old: str, new: str, line: int, key: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        read_2023(tmp_path, PODS.replace(old, new, 1))
    assert (caught.value.line, caught.value.key) == (line, key)


SPOT = """\
job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type
239255,13,A10,20,1,1,10,2764799,HP
437260,57,A100-SXM4-80GB,15,8,16,4,41060,Spot
3,57,A10,15,0.5,1,20,60,Spot
4,57,,15,0,1,0,60,Spot
5,57,A10,15,1,1,20,0,Spot
"""


def read_2026(directory: Path, text: str | bytes = SPOT) -> JobTrace:
    file = directory / "job_info_df.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_alibaba_2026(file)


def test_the_jobs_of_2026(tmp_path: Path) -> None:
    trace = read_2026(tmp_path)
    assert trace.jobs["job"].tolist() == ["437260", "239255", "3"]
    assert trace.jobs["submit_s"].tolist() == [0.0, 6.0, 16.0]
    assert trace.jobs["num_gpus"].tolist() == [128, 1, 1]
    assert trace.jobs["cpus"].tolist() == [240.0, 20.0, 15.0]
    assert trace.jobs["duration_s"].tolist() == [41060.0, 2764799.0, 60.0]
    assert trace.jobs["virtual_cluster"].tolist() == ["57", "13", "57"]
    assert trace.jobs["gpu_type"].tolist() == ["A100-SXM4-80GB", "A10", "A10"]
    assert trace.left_out == {"drop-without-gpus": 1, "drop-zero-duration": 1}
    assert trace.changed == {"round-up-gpus": 1}
    assert trace.notes == ("columns that are not read: job_type",)


@pytest.mark.parametrize(
    ("old", "new", "line", "key"),
    [
        (",8,16,", ",8,0,", 3, "worker_num"),
        (",8,16,", ",8,1.5,", 3, "worker_num"),
        (",8,16,", ",-8,16,", 3, "gpu_request"),
        ("15,8", ",8", 3, "cpu_request"),
        ("41060", "nan", 3, "duration"),
        ("41060", "-41060", 3, "duration"),
        ("41060", "None", 3, "duration"),
        (",4,41060", ",inf,41060", 3, "submit_time"),
        ("437260", "239255", 3, "job_name"),
    ],
)
def test_a_bad_job_of_2026_is_refused_by_line_and_column(
    tmp_path: Path, old: str, new: str, line: int, key: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        read_2026(tmp_path, SPOT.replace(old, new, 1))
    assert (caught.value.line, caught.value.key) == (line, key)


def test_marks_and_separators_at_the_end_are_fine_in_2026(tmp_path: Path) -> None:
    wanted = read_2026(tmp_path).jobs
    assert read_2026(tmp_path, "\ufeff" + SPOT.replace("\n", ",\r\n")).jobs.equals(wanted)


FUZZ = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZ
@given(st.one_of(damaged(JOBS.encode()), st.just(JOBS.encode())), damaged(TASKS.encode()))
def test_damaged_tables_of_2020_are_read_or_refused(
    tmp_path: Path, jobs: bytes, tasks: bytes
) -> None:
    try:
        trace = read_2020(tmp_path, jobs, tasks)
    except BadInputError as error:
        refused = error.file
    else:
        assert trace.read == len(trace.jobs) + sum(trace.left_out.values())
        return
    assert refused in (tmp_path / JOB_TABLE, tmp_path / TASK_TABLE)


@FUZZ
@given(damaged(PODS.encode()), damaged(SPOT.encode()))
def test_damaged_lists_are_read_or_refused(tmp_path: Path, pods: bytes, spot: bytes) -> None:
    check_read_or_refused(read_alibaba_2023, tmp_path / "pods.csv", pods)
    check_read_or_refused(read_alibaba_2026, tmp_path / "job_info_df.csv", spot)
