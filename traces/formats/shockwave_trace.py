"""Shockwave's traces: Gavel's fields, and how a job's batch changes and how long it runs.

The twelve fields are those that ``parse_trace`` of uw-mad-dash/shockwave (``scheduler/utils.py``)
reads. Its generator draws the duration, in seconds, and takes as steps those that Gavel's measured
throughput of the job on V100s makes of it; both are kept as given. In the modes ``accordion`` and
``gns`` the batch grows as the job trains, so it takes less time: duration and steps are those at
the first batch, which is part of the model's name. Ids are made as Gavel's, from ``shockwave-0``.
"""

from __future__ import annotations

from pathlib import Path

from traces.formats.csv_table import read_rows
from traces.formats.gavel_trace import (
    NAMES,
    SEPARATOR,
    gavel_jobs,
    is_gavel_row,
    notes_on_wishes,
)
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import ReadOptions, TraceFormat

COLUMNS = (
    "job_type",
    "command",
    "working_directory",
    "num_steps_arg",
    "needs_data_dir",
    "total_steps",
    "scale_factor",
    "mode",
    "priority_weight",
    "SLO",
    "duration",
    "arrival_time",
)
STATIC = "static"
MODES = (STATIC, "accordion", "gns")

_DEFAULT = ReadOptions()


def read_shockwave_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    table = read_rows(file, (COLUMNS,), separator=SEPARATOR, share=options.share)
    modes = table.words("mode")
    table.refuse(~modes.isin(MODES).to_numpy(dtype=bool), "mode", ", ".join(MODES))
    growing = int((modes != STATIC).sum())
    notes = [*table.notes, *notes_on_wishes(table)]
    if growing:
        notes.append(
            "jobs whose batch grows as they train; their work is that at the first batch: "
            f"{growing:,} of {len(modes):,}"
        )
    return checked_trace(
        gavel_jobs(table, FORMAT.name).assign(duration_s=table.numbers("duration")),
        source=table.source,
        format=FORMAT.name,
        share=options.share,
        file=file,
        notes=tuple(notes),
        names={**NAMES, "duration_s": "duration"},
    )


FORMAT = TraceFormat(
    name="shockwave",
    title="traces of Shockwave's simulator (divided by tabs, without a header)",
    read=read_shockwave_trace,
    is_format=lambda head: is_gavel_row(head.first_line, COLUMNS),
)
