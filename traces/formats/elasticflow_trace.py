"""Traces of ElasticFlow's scheduler (pkusys/ElasticFlow, ``traces_for_ElasticFlow``).

Its scheduler takes ``iteration`` as a job's work and ``duration``, in seconds, as how long that
takes on the ``num_gpu`` that the job asks for. Both are kept as given. Some files have the columns
``real_iteration`` and ``real_duration`` besides. Deadlines and batches are not read.

Submissions are seconds from an instant that the files do not give, 43 days before the first job in
one of them; here they count from the earliest.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from traces.formats.csv_table import header_names, read_named_columns
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Head, ReadOptions, TraceFormat

COLUMNS = ("job_id", "submit_time", "iteration", "model_name", "num_gpu", "duration")
_DEADLINE = "ddl"  # which no other format has
_DEFAULT = ReadOptions()


def read_elasticflow_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    table = read_named_columns(file, COLUMNS, share=options.share)
    submit_s = table.numbers("submit_time")
    table.refuse(~(np.isfinite(submit_s) & (submit_s >= 0)), "submit_time", "a time of 0 s or more")
    earliest_s = submit_s.min()
    notes = table.notes
    if earliest_s > 0:
        notes = (*notes, f"times count from the first submission, at {earliest_s:.12g} s")
    jobs = pd.DataFrame(
        {
            "job": table.words("job_id"),
            "submit_s": submit_s - earliest_s,
            "model": table.words("model_name"),
            "num_gpus": table.numbers("num_gpu"),
            "iterations": table.numbers("iteration"),
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
        notes=notes,
        names={
            "job": "job_id",
            "submit_s": "submit_time",
            "model": "model_name",
            "num_gpus": "num_gpu",
            "iterations": "iteration",
            "duration_s": "duration",
        },
    )


def _is_elasticflow(head: Head) -> bool:
    return {*COLUMNS, _DEADLINE} <= set(header_names(head.first_line))


FORMAT = TraceFormat(
    name="elasticflow",
    title="traces of ElasticFlow's scheduler (CSV)",
    read=read_elasticflow_trace,
    is_format=_is_elasticflow,
)
