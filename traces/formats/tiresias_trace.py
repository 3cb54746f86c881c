"""Traces of Tiresias' simulator (SymbioticLab/Tiresias, ``simulator/*_job.csv``).

Times are seconds from the begin of the simulation, and kept as given; so are a job's two amounts of
work, its duration and its iterations. ``interval``, the time until the next submission, is not
read.

Muri's traces, whose times are in milliseconds, have these columns and more.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from traces.formats.csv_table import is_header, read_csv_table
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import ReadOptions, TraceFormat

COLUMNS = (
    "job_id",
    "num_gpu",
    "submit_time",
    "iterations",
    "model_name",
    "duration",
    "interval",
)
_DEFAULT = ReadOptions()


def read_tiresias_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    table = read_csv_table(file, COLUMNS, has_header=True, share=options.share)
    jobs = pd.DataFrame(
        {
            "job": table.words("job_id"),
            "submit_s": table.numbers("submit_time"),
            "model": table.words("model_name"),
            "num_gpus": table.numbers("num_gpu"),
            "iterations": table.numbers("iterations"),
            "duration_s": table.numbers("duration"),
            "line": table.lines,
        }
    )
    return checked_trace(
        jobs,
        source=table.source,
        format=FORMAT.name,
        share=options.share,
        file=file,
        notes=table.notes,
        names={
            "job": "job_id",
            "submit_s": "submit_time",
            "model": "model_name",
            "num_gpus": "num_gpu",
            "duration_s": "duration",
        },
    )


FORMAT = TraceFormat(
    name="tiresias",
    title="traces of Tiresias' simulator (CSV, times in s)",
    read=read_tiresias_trace,
    is_format=lambda head: is_header(head.first_line, COLUMNS),
)
