"""Muri's traces, and what its cluster measured of them (Rivendile/Muri).

A trace gives times in milliseconds, and a job's work twice: as iterations, and as a duration. Each
is kept as given, for they do not always agree:

- In ``simulator/trace-data/trace1.csv`` the iterations of each of the 1,494 jobs are duration /
  iteration_time, rounded down.
- In ``cluster_exp/trace-data/cluster_trace.csv`` they are the duration divided by another time for
  one iteration, one for each model and number of GPUs, which the file does not give. iterations x
  iteration_time is within 1 % of the duration for 50 of the 400 jobs, and within 10 % for 279; for
  ResNet-18 on 32 GPUs it is 5.4 times as long.

A note says for how many jobs of a file they differ.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.formats.csv_table import CsvTable, is_header, read_csv_table
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import ReadOptions, TraceFormat

COLUMNS = (
    "job_id",
    "num_gpu",
    "submit_time",
    "iterations",
    "model_name",
    "batch_size",
    "duration",
    "interval",
    "iteration_time",
    "resource_time_0",
    "resource_time_1",
    "resource_time_2",
    "priority",
)
RESULT_COLUMNS = (
    "time",
    "job_id",
    "num_gpu",
    "submit_time",
    "start_time",
    "end_time",
    "executed_time",
    "real_executed_time",
    "JCT",
    "duration",
    "pending_time",
    "job_counter",
    "promote",
)
_DEFAULT = ReadOptions()

MS_PER_S = 1000.0
MAX_PART_OFF = 0.01  # of the duration, before a job's two amounts of work count as different
MAX_OFF_S = 0.001  # of a time that follows from other times of the same row


def read_muri_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``, in s. Raises BadInputError with line and column."""
    table = read_csv_table(file, COLUMNS, has_header=True, share=options.share)
    jobs = pd.DataFrame(
        {
            "job": table.words("job_id"),
            "submit_s": table.numbers("submit_time") / MS_PER_S,
            "model": table.words("model_name"),
            "num_gpus": table.numbers("num_gpu"),
            "iterations": table.numbers("iterations"),
            "duration_s": table.numbers("duration") / MS_PER_S,
            "iteration_s": table.numbers("iteration_time") / MS_PER_S,
            "line": table.lines,
        }
    )
    return checked_trace(
        jobs,
        source=table.source,
        format=FORMAT.name,
        share=options.share,
        file=file,
        notes=(*table.notes, *_notes_on_work(jobs, table.numbers("iteration_time") / MS_PER_S)),
        names={
            "job": "job_id",
            "submit_s": "submit_time",
            "model": "model_name",
            "num_gpus": "num_gpu",
            "duration_s": "duration",
        },
    )


def _notes_on_work(jobs: pd.DataFrame, iteration_s: NDArray[np.float64]) -> list[str]:
    duration_s = jobs["duration_s"].to_numpy()
    off_s = np.abs(jobs["iterations"].to_numpy() * iteration_s - duration_s)
    # Iterations are whole, so up to one of them is rounding.
    differ = np.count_nonzero(off_s > np.maximum(MAX_PART_OFF * duration_s, iteration_s))
    if not differ:
        return []
    return [
        f"jobs whose iterations x iteration_time is more than {MAX_PART_OFF:.0%} and one iteration "
        f"off their duration: {differ:,} of {len(jobs):,}; both are kept as given"
    ]


FORMAT = TraceFormat(
    name="muri",
    title="Muri's simulator and cluster (CSV, times in ms)",
    read=read_muri_trace,
    is_format=lambda head: is_header(head.first_line, COLUMNS),
)


def read_muri_results(file: Path) -> pd.DataFrame:
    """What Muri measured of each job of a trace, in the order of ``file`` (that of their ends).

    Columns: ``job`` (text), ``num_gpus``, and in s from the begin of the trace ``submit_s``,
    ``start_s`` (its first) and ``finish_s``; ``jct_s`` (finish - submit); and ``executed_s``, the
    time that it ran: JCT less all waiting, also that after it was preempted. This is the file's
    ``real_executed_time``; its ``executed_time`` is finish - start.

    Raises BadInputError with line and column.
    """
    table = read_csv_table(file, RESULT_COLUMNS, has_header=True)
    results = pd.DataFrame(
        {
            "job": table.words("job_id"),
            "num_gpus": table.numbers("num_gpu"),
            "submit_s": table.numbers("submit_time"),
            "start_s": table.numbers("start_time"),
            "finish_s": table.numbers("end_time"),
            "jct_s": table.numbers("JCT"),
            "executed_s": table.numbers("real_executed_time"),
        }
    )
    _refuse_results(table, results)
    return results.astype({"num_gpus": "int64"})


def _refuse_results(table: CsvTable, results: pd.DataFrame) -> None:
    submit_s, start_s, finish_s, jct_s, executed_s = (
        results[name].to_numpy()
        for name in ("submit_s", "start_s", "finish_s", "jct_s", "executed_s")
    )
    num_gpus = results["num_gpus"].to_numpy()
    table.refuse(results["job"].duplicated().to_numpy(), "job_id", "an id that no other job has")
    whole = np.isfinite(num_gpus) & (num_gpus == np.floor(num_gpus))
    table.refuse(~(whole & (num_gpus >= 1)), "num_gpu", "a whole number of 1 or more")
    # Written so that what is not finite is refused too.
    table.refuse(~(np.isfinite(submit_s) & (submit_s >= 0)), "submit_time", "0 s or more")
    table.refuse(~(start_s >= submit_s), "start_time", "a time from submit_time")
    table.refuse(
        ~(np.isfinite(finish_s) & (finish_s >= start_s)), "end_time", "a time from start_time"
    )
    table.refuse(
        ~(np.abs(jct_s - (finish_s - submit_s)) <= MAX_OFF_S), "JCT", "end_time - submit_time"
    )
    table.refuse(
        ~((executed_s >= 0) & (executed_s <= finish_s - start_s + MAX_OFF_S)),
        "real_executed_time",
        "a time from 0 s to end_time - start_time",
    )
