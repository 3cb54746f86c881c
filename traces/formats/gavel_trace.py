"""Gavel's traces: a job on each line, its fields divided by tabs, without a header.

The fields are those that ``parse_trace`` of stanford-futuredata/gavel (``scheduler/utils.py``)
reads: ten, or the seven of its older ``traces/msr``. A command holds spaces, and may hold quotation
marks and end with a space. Steps are iterations, and arrivals are in seconds.

There are no ids: a job's is its place among the rows, from ``gavel-0``. A job type such as
``ResNet-18 (batch size 32)`` is the model, with its batch, as in Gavel's tables of throughput: the
steps count that batch. How long a job runs is not in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from traces.formats.csv_table import CsvTable, read_rows
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import ReadOptions, TraceFormat

SEPARATOR = "\t"
COLUMNS = (
    "job_type",
    "command",
    "working_directory",
    "num_steps_arg",
    "needs_data_dir",
    "total_steps",
    "scale_factor",
    "priority_weight",
    "SLO",
    "arrival_time",
)
OLDER_COLUMNS = (
    "job_type",
    "command",
    "num_steps_arg",
    "needs_data_dir",
    "total_steps",
    "arrival_time",
    "scale_factor",
)
NAMES = {
    "model": "job_type",
    "submit_s": "arrival_time",
    "iterations": "total_steps",
    "num_gpus": "scale_factor",
}
"""What the files call the columns of a trace."""

_FLAGS = ("0", "1")
_DEFAULT = ReadOptions()


def read_gavel_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    table = read_rows(file, (COLUMNS, OLDER_COLUMNS), separator=SEPARATOR, share=options.share)
    return checked_trace(
        gavel_jobs(table, FORMAT.name),
        source=table.source,
        format=FORMAT.name,
        share=options.share,
        file=file,
        notes=(*table.notes, *notes_on_wishes(table)),
        names=NAMES,
    )


def gavel_jobs(table: CsvTable, prefix: str) -> pd.DataFrame:
    """The jobs of a ``table`` with Gavel's columns, their ids from ``prefix-0``.

    Raises BadInputError with line and column.
    """
    flags = table.words("needs_data_dir")
    # The one field whose values are known: where it holds others, the fields are other ones.
    table.refuse(~flags.isin(_FLAGS).to_numpy(dtype=bool), "needs_data_dir", "0 or 1")
    return pd.DataFrame(
        {
            "job": f"{prefix}-" + pd.Series(np.arange(len(flags))).astype("string"),
            "submit_s": table.numbers("arrival_time"),
            "model": table.words("job_type"),
            "num_gpus": table.numbers("scale_factor"),
            "iterations": table.numbers("total_steps"),
            "line": table.lines,
        }
    )


def notes_on_wishes(table: CsvTable) -> list[str]:
    """How many jobs have a priority or an objective, which a trace does not hold."""
    if "SLO" not in table.rows.columns:
        return []
    weighted = int(np.count_nonzero(table.numbers("priority_weight") != 1))
    bound = int(np.count_nonzero(table.numbers("SLO") >= 0))
    found = (("a priority_weight other than 1", weighted), ("an SLO", bound))
    return [f"jobs with {what}, which is not kept: {jobs:,}" for what, jobs in found if jobs]


def is_gavel_row(line: str, columns: Sequence[str]) -> bool:
    """Whether ``line`` has the fields ``columns``, by their number and the one that is a flag."""
    fields = line.split(SEPARATOR)
    return len(fields) == len(columns) and fields[columns.index("needs_data_dir")] in _FLAGS


FORMAT = TraceFormat(
    name="gavel",
    title="traces of Gavel's simulator (divided by tabs, without a header)",
    read=read_gavel_trace,
    is_format=lambda head: any(
        is_gavel_row(head.first_line, columns) for columns in (COLUMNS, OLDER_COLUMNS)
    ),
)
