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

from traces.formats.csv_table import is_header, read_csv_table
from traces.formats.instants import CLOCK_TIME, clock_seconds
from traces.formats.recorded_jobs import DROP_ZERO_DURATION, from_the_earliest
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, ReadOptions, TraceFormat

COLUMNS = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")
RULES = (DROP_ZERO_DURATION,)

_DEFAULT = ReadOptions()


def read_philly_csv(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    cleaning = Cleaning(RULES, options)
    table = read_csv_table(file, COLUMNS, has_header=True, share=options.share)
    submit_s = clock_seconds(table.words("timestamp"))
    table.refuse(np.isnan(submit_s), "timestamp", CLOCK_TIME)
    jobs = pd.DataFrame(
        {
            "job": "philly-" + pd.Series(np.arange(len(submit_s))).astype("string"),
            "submit_s": submit_s,
            "duration_s": table.numbers("duration"),
            "num_gpus": table.numbers("num_gpus"),
            "virtual_cluster": table.words("cluster"),
            "line": table.lines,
        }
    )
    kept = cleaning.leave_out(jobs, (jobs["duration_s"] == 0).to_numpy(), DROP_ZERO_DURATION)
    kept, began = from_the_earliest(kept, is_utc=False)
    return checked_trace(
        kept,
        source=table.source,
        format=FORMAT.name,
        file=file,
        read=len(jobs),
        notes=table.notes,
        left_out=cleaning.left_out,
        began=began,
        share=options.share,
        names={"submit_s": "timestamp", "duration_s": "duration", "virtual_cluster": "cluster"},
    )


FORMAT = TraceFormat(
    name="philly-csv",
    title="Microsoft's Philly cluster, in the short form of Pollux's artifact (CSV)",
    read=read_philly_csv,
    is_format=lambda head: is_header(head.first_line, COLUMNS),
    rules=RULES,
)
