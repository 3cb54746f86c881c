"""Alibaba's PAI cluster of 2020 (alibaba/clusterdata, ``cluster-trace-gpu-v2020``).

Read from a directory that holds two of its tables, which have no header: ``pai_job_table.csv`` and
``pai_task_table.csv``, as they come out of the published archives. A job has one task or more, such
as workers and parameter servers; a task has ``inst_num`` instances, each with the planned CPUs and
GPUs (in percent of one) and memory. A job's GPUs are those of all instances of all its tasks.

It runs from the first start of a task to its own end, and waited until then from its submission
(the job table's ``start_time``). An empty time or 0 is none, as in the published analysis; an empty
plan is nothing. Memory is in GB that are 1,024 MB each (29.296875 GB are 30,000 MB).

The dates are made up; hours and days of the week are those of UTC+8.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats import recorded_jobs
from traces.formats.alibaba_2020_tasks import TasksOfJobs
from traces.formats.alibaba_rules import DROP_UNFINISHED, ROUND_UP_GPUS, with_whole_gpus
from traces.formats.csv_table import CsvTable, read_csv_table
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, CleaningRule, ReadOptions, TraceFormat

JOB_TABLE = "pai_job_table.csv"
JOB_COLUMNS = ("job_name", "inst_id", "user", "status", "start_time", "end_time")
TASK_TABLE = "pai_task_table.csv"
TASK_COLUMNS = (
    "job_name",
    "task_name",
    "inst_num",
    "status",
    "start_time",
    "end_time",
    "plan_cpu",
    "plan_mem",
    "plan_gpu",
    "gpu_type",
)
STATES = {
    "Terminated": "completed",
    "Failed": "failed",
    "Running": "running",
    "Waiting": "running",
}

DROP_WITHOUT_TASKS = CleaningRule("drop-without-tasks", "the table of tasks has none of it")
RULES = (DROP_WITHOUT_TASKS, DROP_UNFINISHED, *recorded_jobs.RULES, ROUND_UP_GPUS)

_DATES = "the dates are made up; hours and days of the week are those of UTC+8"
_PERCENT = 100.0
_SHANGHAI_S = 8 * 3600
_DEFAULT = ReadOptions()


def read_alibaba_2020(directory: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of the tables in ``directory``. Raises BadInputError with table, line and column."""
    cleaning = Cleaning(RULES, options)
    job_file, task_file = _tables(directory)
    if options.share < 1:
        problem = "a part cannot be read, for a job's tasks may stand anywhere in their table"
        raise BadInputError(problem, allowed="all of it", file=directory)
    job_table = read_csv_table(job_file, JOB_COLUMNS, has_header=False)
    task_table = read_csv_table(task_file, TASK_COLUMNS, has_header=False)
    all_jobs, notes = _with_tasks(_jobs(job_table), task_table)
    run_s = all_jobs["ended_s"] - all_jobs["started_s"]
    queue_s = all_jobs["started_s"] - all_jobs["submitted_s"]
    jobs = all_jobs.assign(duration_s=run_s, executed_s=run_s, queue_s=queue_s)

    jobs = cleaning.leave_out(jobs, jobs["num_gpus"].isna().to_numpy(), DROP_WITHOUT_TASKS)
    unfinished = jobs[["submitted_s", "duration_s"]].isna().any(axis=1).to_numpy()
    jobs = cleaning.leave_out(jobs, unfinished, DROP_UNFINISHED)
    jobs = with_whole_gpus(recorded_jobs.cleaned(jobs, cleaning), cleaning)

    jobs = jobs.assign(submit_s=jobs["submitted_s"] + _SHANGHAI_S)
    jobs, began = recorded_jobs.from_the_earliest(jobs, is_utc=False)
    return checked_trace(
        jobs.drop(columns=["submitted_s", "started_s", "ended_s"]),
        source=f"{job_table.source}; {task_table.source}",
        format=FORMAT.name,
        file=job_file,
        read=len(all_jobs),
        notes=(_DATES, *job_table.notes, *notes),
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        began=began,
        names={
            "job": "job_name",
            "submit_s": "start_time",
            "num_gpus": "plan_gpu",
            "cpus": "plan_cpu",
            "memory_bytes": "plan_mem",
            "duration_s": "end_time",
            "executed_s": "end_time",
            "queue_s": "start_time",
        },
    )


def _tables(directory: Path) -> tuple[Path, Path]:
    job_file, task_file = directory / JOB_TABLE, directory / TASK_TABLE
    if not (job_file.is_file() and task_file.is_file()):
        raise BadInputError(
            "cannot be read: it lacks a table",
            allowed=f"a directory with {JOB_TABLE} and {TASK_TABLE}",
            file=directory,
        )
    return job_file, task_file


def _times(table: CsvTable, column: str) -> NDArray[np.float64]:
    """The times of ``column`` in s, NaN where there is none."""
    times = table.numbers_or_nan(column)
    table.refuse((times < 0) | np.isinf(times), column, "a time of 0 s or more, or nothing")
    return np.where(times == 0, np.nan, times)


def _jobs(table: CsvTable) -> pd.DataFrame:
    names, status = table.words("job_name"), table.words("status")
    table.refuse(names.duplicated().to_numpy(), "job_name", "a name that no other job has")
    table.refuse(~status.isin(list(STATES)).to_numpy(), "status", ", ".join(STATES))
    return pd.DataFrame(
        {
            "job": names,
            "user": table.words_or_none("user"),
            "state": status.map(STATES).astype("string"),
            "submitted_s": _times(table, "start_time"),
            "ended_s": _times(table, "end_time"),
            "line": table.lines,
        }
    )


def _with_tasks(jobs: pd.DataFrame, table: CsvTable) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """``jobs`` with what their tasks say, NaN and null where none says it; and notes.

    Columns: ``started_s``, ``num_gpus``, ``cpus``, ``memory_bytes`` and ``gpu_type``.
    """
    instances = _amounts(table, "inst_num")
    gpus_percent = np.nan_to_num(_amounts(table, "plan_gpu"))
    started_s = _times(table, "start_time")
    job_of = pd.Index(jobs["job"]).get_indexer(pd.Index(table.words("job_name")))
    notes = [f"{note} ({TASK_TABLE})" for note in table.notes]
    for number, what in (
        (np.count_nonzero(np.isnan(instances)), "without a number of instances, taken as one"),
        (np.count_nonzero(job_of < 0), f"of jobs that {JOB_TABLE} lacks, not read"),
    ):
        if number:
            notes.append(f"tasks {what}: {number:,}")

    instances = np.nan_to_num(instances, nan=1.0)
    types = table.words_or_none("gpu_type").mask(gpus_percent == 0)
    tasks = TasksOfJobs(job_of, len(jobs))
    return jobs.assign(
        started_s=tasks.least(started_s),
        num_gpus=tasks.sums(gpus_percent * instances) / _PERCENT,
        cpus=tasks.sums(_amounts(table, "plan_cpu") * instances) / _PERCENT,
        memory_bytes=tasks.sums(_amounts(table, "plan_mem") * instances) * 2**30,
        gpu_type=tasks.joined(types),
    ), tuple(notes)


def _amounts(table: CsvTable, column: str) -> NDArray[np.float64]:
    amounts = table.numbers_or_nan(column)
    table.refuse((amounts < 0) | np.isinf(amounts), column, "a number of 0 or more, or nothing")
    return amounts


FORMAT = TraceFormat(
    name="alibaba-2020",
    title="Alibaba's PAI cluster of 2020 (a directory with the tables of jobs and tasks, CSV)",
    read=read_alibaba_2020,
    is_format=lambda head: {JOB_TABLE, TASK_TABLE} <= head.entries,
    rules=RULES,
)
