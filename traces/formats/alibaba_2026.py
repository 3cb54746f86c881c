"""Alibaba's jobs of 2026, spot and others (alibaba/clusterdata, ``cluster-trace-v2026-spot-gpu``).

``job_info_df.csv``: a job has ``worker_num`` workers, each with ``gpu_request`` GPUs and
``cpu_request`` CPUs. ``organization`` is who pays. Times are in s from the first submission. What
kind of job it is (HP or Spot) is not read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.formats.alibaba_rules import ROUND_UP_GPUS, with_whole_gpus
from traces.formats.csv_table import CsvTable, header_names, read_named_columns
from traces.formats.recorded_jobs import DROP_WITHOUT_GPUS, DROP_ZERO_DURATION
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, ReadOptions, TraceFormat

COLUMNS = (
    "job_name",
    "organization",
    "gpu_model",
    "cpu_request",
    "gpu_request",
    "worker_num",
    "submit_time",
    "duration",
)
RULES = (DROP_WITHOUT_GPUS, DROP_ZERO_DURATION, ROUND_UP_GPUS)

_DEFAULT = ReadOptions()


def read_alibaba_2026(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    cleaning = Cleaning(RULES, options)
    table = read_named_columns(file, COLUMNS, share=options.share)
    all_jobs = _jobs(table)
    jobs = all_jobs
    for rule, column in ((DROP_WITHOUT_GPUS, "num_gpus"), (DROP_ZERO_DURATION, "duration_s")):
        jobs = cleaning.leave_out(jobs, (jobs[column] == 0).to_numpy(), rule)
    jobs = with_whole_gpus(jobs, cleaning)
    return checked_trace(
        jobs.assign(submit_s=jobs["submit_s"] - jobs["submit_s"].min()),
        source=table.source,
        format=FORMAT.name,
        file=file,
        read=len(all_jobs),
        notes=table.notes,
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        share=options.share,
        names={
            "job": "job_name",
            "submit_s": "submit_time",
            "num_gpus": "gpu_request",
            "cpus": "cpu_request",
            "duration_s": "duration",
        },
    )


def _jobs(table: CsvTable) -> pd.DataFrame:
    workers = table.numbers("worker_num")
    whole = (workers >= 1) & (workers == np.floor(workers))
    table.refuse(~whole, "worker_num", "a whole number of 1 or more")
    return pd.DataFrame(
        {
            "job": table.words("job_name"),
            "virtual_cluster": table.words_or_none("organization"),
            "gpu_type": table.words_or_none("gpu_model"),
            "num_gpus": _request(table, "gpu_request") * workers,
            "cpus": _request(table, "cpu_request") * workers,
            "submit_s": table.numbers("submit_time"),
            "duration_s": table.numbers("duration"),
            "line": table.lines,
        }
    )


def _request(table: CsvTable, column: str) -> NDArray[np.float64]:
    """What one worker asks for."""
    request = table.numbers(column)
    table.refuse(~(np.isfinite(request) & (request >= 0)), column, "a number of 0 or more")
    return request


FORMAT = TraceFormat(
    name="alibaba-2026",
    title="Alibaba's jobs of 2026, spot and others (CSV)",
    read=read_alibaba_2026,
    is_format=lambda head: set(COLUMNS) <= set(header_names(head.first_line)),
    rules=RULES,
)
