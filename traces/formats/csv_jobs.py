"""Plain CSV: a trace's own columns under their own names, or any columns with a mapping file.

Without a mapping file the first line names columns of a trace (JOB_COLUMNS), in any order, and the
values are in their units; an empty field is no value, and ``line`` is not read. A mapping file
(csv_mapping.example_mapping) says which columns of the file are these, and in what units. Fields
may be quoted.

Submissions that are instants count from the earliest of the jobs that are kept; others are kept as
given. Where the mapping gives the time zone of times without an offset, they are read in it: the
hour that its clocks repeat as standard time, and one that they skip as the moment after it.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd

from traces.errors import BadInputError
from traces.formats import recorded_jobs
from traces.formats.csv_mapping import MAPPED_COLUMNS, CsvMapping, own_mapping, read_mapping
from traces.formats.csv_values import CsvValues
from traces.formats.quoted_csv import header_of, read_quoted_csv
from traces.job_trace import JOB_COLUMNS, JobTrace, checked_trace
from traces.trace_format import (
    Cleaning,
    CleaningRule,
    Head,
    ReadOptions,
    TraceFormat,
    head_of,
)

DROP_WITHOUT_WORK = CleaningRule("drop-without-work", "it has neither a duration nor iterations")
RULES = (DROP_WITHOUT_WORK, *recorded_jobs.RULES)

_DEFAULT = ReadOptions()


def read_csv_jobs(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column, or that of the mapping."""
    cleaning = Cleaning(RULES, options)
    mapping = _own(file) if options.mapping is None else read_mapping(options.mapping)
    spec = mapping.spec
    table = read_quoted_csv(
        file, mapping.read_columns, separator=spec.separator, names=spec.names, share=options.share
    )
    values = CsvValues(table, frozenset(spec.empty))
    columns: dict[str, object] = dict.fromkeys(("duration_s", "iterations", "queue_s"), np.nan)
    for name, column in spec.columns.items():
        if name != "submit_s":
            is_text = JOB_COLUMNS[name].dtype == "string"
            columns[name] = values.texts(name, column) if is_text else values.numbers(name, column)
    jobs = pd.DataFrame({"line": table.lines, **columns})
    if "job" not in jobs:
        jobs["job"] = "job-" + jobs.index.astype("string")
    lacking = jobs[["duration_s", "iterations"]].isna().all(axis=1).to_numpy()
    kept = cleaning.leave_out(jobs, lacking, DROP_WITHOUT_WORK)
    kept = recorded_jobs.cleaned(kept, cleaning)
    kept, began, notes = _with_submissions(kept, values, mapping)
    return checked_trace(
        kept,
        source=table.source,
        format=FORMAT.name,
        file=file,
        read=len(jobs),
        notes=(*table.notes, *notes),
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        began=began,
        share=options.share,
        names={
            name: " to ".join(column.read_columns)
            for name, column in spec.columns.items()
            if column.read_columns
        },
    )


def _own(file: Path) -> CsvMapping:
    """That of a file whose first line names columns of a trace."""
    try:
        head = head_of(file)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed="a CSV file", file=file) from None
    if not _has_own_columns(head):
        raise BadInputError(
            "the first line does not name columns of a trace",
            allowed=f"job, submit_s, num_gpus, duration_s or iterations, and of the others "
            f"{', '.join(MAPPED_COLUMNS)}; or a mapping file that says which columns are these",
            file=file,
            line=1,
        )
    return own_mapping(header_of(head.first_line))


def _has_own_columns(head: Head) -> bool:
    try:
        names = set(header_of(head.first_line))
    except csv.Error:
        return False
    needed = {"job", "submit_s", "num_gpus"}
    return needed <= names <= set(JOB_COLUMNS) and bool(names & {"duration_s", "iterations"})


def _with_submissions(
    jobs: pd.DataFrame, values: CsvValues, mapping: CsvMapping
) -> tuple[pd.DataFrame, str | None, list[str]]:
    """``jobs`` with ``submit_s``, the instant that it counts from if there is one, and notes."""
    spec = mapping.spec.columns["submit_s"]
    notes = [] if mapping.source is None else [f"columns by the mapping {mapping.source}"]
    if spec.column is None:
        return jobs.assign(submit_s=float(spec.value or 0)), None, notes
    times = values.times(spec.column, spec)
    if times.moved:
        notes.append(f"submissions in an hour that the clocks repeat or skip: {times.moved:,}")
    submit_s = times.seconds[jobs.index]
    if not times.are_instants:
        return jobs.assign(submit_s=submit_s), None, notes
    lacking = np.isnan(times.seconds) & np.isin(np.arange(len(times.seconds)), jobs.index)
    values.table.refuse(lacking, spec.column, "the time of the submission")
    from_earliest, began = recorded_jobs.from_the_earliest(
        jobs.assign(submit_s=submit_s), is_utc=times.are_utc
    )
    return from_earliest, began, notes


FORMAT = TraceFormat(
    name="csv",
    title="plain CSV: columns named as a trace's, or with a mapping file",
    read=read_csv_jobs,
    is_format=_has_own_columns,
    rules=RULES,
    takes_mapping=True,
)
