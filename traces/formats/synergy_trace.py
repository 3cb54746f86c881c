"""Synergy's replay traces: CSV without a header, a job on each line.

The columns are those that msr-fiddle/synergy reads with ``--replay_trace``: the id, the model, the
arrival in seconds, the iterations (at the model's reference share), and the GPUs. Arrivals are kept
as given.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from traces.formats.csv_table import read_csv_table
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import ReadOptions, TraceFormat

COLUMNS = ("job_id", "model", "arrival_s", "iterations", "gpus")

_NUMBERS = COLUMNS[2:]
_DEFAULT = ReadOptions()


def read_synergy_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    table = read_csv_table(file, COLUMNS, has_header=False, share=options.share)
    return checked_trace(
        pd.DataFrame(
            {
                "job": table.words("job_id"),
                "model": table.words("model"),
                "submit_s": table.numbers("arrival_s"),
                "iterations": table.numbers("iterations"),
                "num_gpus": table.numbers("gpus"),
                "line": table.lines,
            }
        ),
        source=table.source,
        format=FORMAT.name,
        share=options.share,
        file=file,
        notes=table.notes,
        names={"job": "job_id", "submit_s": "arrival_s", "num_gpus": "gpus"},
    )


def is_synergy_row(line: str) -> bool:
    """Whether ``line`` has the fields of a job: a word for the model, numbers after it."""
    fields = dict(zip(COLUMNS, line.split(","), strict=False))
    return (
        line.count(",") == len(COLUMNS) - 1
        and not _is_number(fields["model"])
        and all(_is_number(fields[column]) for column in _NUMBERS)
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


FORMAT = TraceFormat(
    name="synergy",
    title="replay traces of Synergy's simulator (CSV without a header)",
    read=read_synergy_trace,
    is_format=lambda head: is_synergy_row(head.first_line),
)
