"""Microsoft's Philly jobs in the short form of Pollux's artifact.

``simulator/traces/philly.csv`` of petuum/adaptdl, branch osdi21-artifact: 82,247 of the 117,325
published jobs, by a filter that it does not state. It has no ids, models or users. A row gives a
time without a zone (taken as the submission, as Pollux's own generator of workloads does), the run
time in seconds, the GPUs, the product of these two, and the virtual cluster. 65 rows are like
an earlier one in all five values: they are jobs of their own here. The shortest job runs for 1 s,
and the file ends with a blank line.

A job's id is its place among the rows, from ``philly-0``. Times count from the earliest submission
of the jobs that are kept. A run time below 0 is an error of the file. ``gpu_time`` is not read:
it is the product of two others on every row of the published file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from traces.formats.csv_table import CsvTable, is_header, read_csv_table
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, CleaningRule, ReadOptions, TraceFormat

COLUMNS = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"

DROP_ZERO_DURATION = "drop-zero-duration"
RULES = (
    CleaningRule(DROP_ZERO_DURATION, "it ran for 0 s, which a cluster cannot be asked to do again"),
)

_DEFAULT = ReadOptions()


def read_philly_csv(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    cleaning = Cleaning(RULES, options)
    table = read_csv_table(file, COLUMNS, has_header=True, share=options.share)
    submitted = _submitted(table)
    jobs = pd.DataFrame(
        {
            "job": "philly-" + pd.Series(np.arange(len(submitted))).astype("string"),
            "duration_s": table.numbers("duration"),
            "num_gpus": table.numbers("num_gpus"),
            "virtual_cluster": table.words("cluster"),
            "line": table.lines,
        }
    )
    kept = cleaning.leave_out(jobs, (jobs["duration_s"] == 0).to_numpy(), DROP_ZERO_DURATION)
    submitted = submitted[kept.index]
    earliest = submitted.min()
    kept = kept.assign(submit_s=(submitted - earliest).dt.total_seconds())
    return checked_trace(
        kept,
        source=table.source,
        format=FORMAT.name,
        file=file,
        read=len(jobs),
        notes=table.notes,
        left_out=cleaning.left_out,
        began=None if pd.isna(earliest) else earliest.isoformat(),
        share=options.share,
        names={"submit_s": "timestamp", "duration_s": "duration", "virtual_cluster": "cluster"},
    )


def _submitted(table: CsvTable) -> pd.Series:
    times = pd.to_datetime(table.words("timestamp"), format=TIME_FORMAT, errors="coerce")
    table.refuse(times.isna().to_numpy(), "timestamp", "a time such as '2017-10-09 07:01:55'")
    return times


FORMAT = TraceFormat(
    name="philly-csv",
    title="Microsoft's Philly cluster, in the short form of Pollux's artifact (CSV)",
    read=read_philly_csv,
    is_format=lambda head: is_header(head.first_line, COLUMNS),
    rules=RULES,
)
