"""Jobs as they were submitted: one table for every trace, whatever its source."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError

# More than these is a mistake of units or columns.
MAX_GPUS = 1_000_000  # of one job
MAX_TIME_S = 1e12  # thirty thousand years
MAX_ITERATIONS = 1e15


class JobColumn(NamedTuple):
    """A column of a trace: its type, its unit (empty where it has none), and what it means."""

    dtype: str
    unit: str
    meaning: str


JOB_COLUMNS: dict[str, JobColumn] = {
    "job": JobColumn("string", "", "the id; no two jobs have the same"),
    "submit_s": JobColumn("float64", "s", "when it was submitted; 0 or more"),
    "model": JobColumn("string", "", "what it trains; null where the source does not say"),
    "num_gpus": JobColumn("int64", "GPUs", "GPUs that it asks for; 1 or more"),
    "iterations": JobColumn(
        "float64",
        "iterations",
        "its work, counted at the model's reference share of CPU and memory; above 0, or NaN where "
        "the source has only durations",
    ),
    "duration_s": JobColumn(
        "float64",
        "s",
        "how long it runs with its GPU-proportional share of CPU and memory; above 0, or NaN where "
        "the source has only iterations",
    ),
    "iteration_s": JobColumn(
        "float64",
        "s",
        "how long one of its iterations takes with that share; above 0, or NaN where the source "
        "does not say. Where it is known, the job's work is iterations x iteration_s",
    ),
    "user": JobColumn("string", "", "who submitted it; null where the source does not say"),
    "virtual_cluster": JobColumn(
        "string", "", "the part of the cluster that it belongs to; null where it does not say"
    ),
    "gpu_type": JobColumn("string", "", "the GPUs that it asks for; null where it does not say"),
    "cpus": JobColumn("float64", "CPUs", "CPUs that it asks for in all; 0 or more, or NaN"),
    "memory_bytes": JobColumn(
        "float64", "bytes", "memory that it asks for in all; 0 or more, or NaN"
    ),
    "queue_s": JobColumn(
        "float64", "s", "for how long it waited for its first start there; 0 or more, or NaN"
    ),
    "executed_s": JobColumn(
        "float64", "s", "for how long it held its GPUs there, over all attempts; 0 or more, or NaN"
    ),
    "attempts": JobColumn("float64", "", "how often it was started there; 0 or more, or NaN"),
    "state": JobColumn("string", "", "how it ended there: one of STATES; null where unknown"),
    "line": JobColumn(
        "int64",
        "",
        "its line in the source, from 1 (where that is a list of documents, its place among them); "
        "0 where it was generated",
    ),
}

STATES = ("completed", "failed", "cancelled", "timeout", "node-failure", "out-of-memory", "running")
"""How a job of a trace ended; ``running`` where the trace ends before it."""

_REQUIRED = ("job", "submit_s", "num_gpus")
_AMOUNTS = ("iterations", "duration_s")  # a job has at least one of them
_MOST = {"iterations": MAX_ITERATIONS, "duration_s": MAX_TIME_S, "iteration_s": MAX_TIME_S}
_MOST_OR_NONE = {
    "cpus": 1e9,
    "memory_bytes": 1e18,
    "queue_s": MAX_TIME_S,
    "executed_s": MAX_TIME_S,
    "attempts": 1e6,
}
_TEXTS = ("job", "model", "user", "virtual_cluster", "gpu_type")

_ALLOWED = {
    "job": "an id that is not empty and that no other job has",
    "submit_s": "a finite time of 0 s or more",
    "num_gpus": f"a whole number from 1 to {MAX_GPUS:,}",
    "iterations": f"a finite number above 0, at most {MAX_ITERATIONS:g}",
    "duration_s": f"a finite time above 0 s, at most {MAX_TIME_S:g} s",
    "iteration_s": f"a finite time above 0 s, at most {MAX_TIME_S:g} s",
    "line": "a whole number from 0",
    "state": ", ".join(STATES),
} | {name: f"a number from 0 to {most:g}" for name, most in _MOST_OR_NONE.items()}


@dataclass(frozen=True, eq=False)
class JobTrace:
    """Jobs in the order of their submission; those submitted together in the source's order.

    jobs: the columns JOB_COLUMNS, index 0 to n-1.
    source: the file and its SHA-256, or the generator's words.
    read: jobs in the source (or in the part of it that was read), also those that were left out.
    reordered: rows that were submitted before the row above them.
    notes: what else is to be said of how it was read, with counts.
    left_out, changed: by the name of the cleaning rule, how many jobs it left out or altered.
    began: what instant submit_s counts from, in ISO 8601, without an offset where the source gives
        no time zone; None where it gives no instants.
    share: how much of the file was read, from its beginning.
    rules: by name, whether a cleaning rule applied, of those that were not as is their default.
    """

    jobs: pd.DataFrame
    source: str
    format: str
    read: int
    reordered: int
    notes: tuple[str, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)
    began: str | None = None
    share: float = 1.0
    rules: Mapping[str, bool] = field(default_factory=dict)


def checked_trace(
    frame: pd.DataFrame,
    *,
    source: str,
    format: str,
    file: Path | None = None,
    read: int | None = None,
    notes: tuple[str, ...] = (),
    names: Mapping[str, str] | None = None,
    left_out: Mapping[str, int] | None = None,
    changed: Mapping[str, int] | None = None,
    began: str | None = None,
    share: float = 1.0,
) -> JobTrace:
    """The trace of the jobs in ``frame``, in order of submission.

    frame: columns of JOB_COLUMNS, of which ``job``, ``submit_s``, ``num_gpus`` and one of
        ``iterations`` and ``duration_s`` must be there; columns that are absent are filled.
    file: what the column ``line`` counts lines of.
    read: rows in the source; None where ``frame`` has them all.
    names: what ``file`` calls a column, where it is called otherwise there.
    left_out, changed, began, share: see JobTrace.

    Raises BadInputError with the line and the column of the first job that is wrong.
    """
    _refuse_columns(frame, file)
    if frame.empty:
        raise BadInputError("there is no job", allowed="one job or more", file=file)
    values = pd.DataFrame({name: _values(frame, name, file) for name in JOB_COLUMNS})
    _refuse_values(_Rows(values, file, names or {}))
    jobs = values.astype({name: column.dtype for name, column in JOB_COLUMNS.items()})
    submit_s = jobs["submit_s"].to_numpy()
    order = np.argsort(submit_s, kind="stable")
    return JobTrace(
        jobs=jobs.iloc[order].reset_index(drop=True),
        source=source,
        format=format,
        read=len(frame) if read is None else read,
        reordered=int(np.count_nonzero(np.diff(submit_s) < 0)),
        notes=notes,
        left_out=left_out or {},
        changed=changed or {},
        began=began,
        share=share,
    )


def _refuse_columns(frame: pd.DataFrame, file: Path | None) -> None:
    allowed = f"the columns {', '.join(JOB_COLUMNS)}"
    for name in frame.columns[~frame.columns.isin(list(JOB_COLUMNS)) | frame.columns.duplicated()]:
        problem = "is another column" if name not in JOB_COLUMNS else "stands twice"
        raise BadInputError(problem, allowed=allowed, file=file, key=str(name))
    for name in _REQUIRED:
        if name not in frame.columns:
            raise BadInputError(f"lacks the column {name!r}", allowed=allowed, file=file)
    if not any(name in frame.columns for name in _AMOUNTS):
        problem = "lacks both columns 'iterations' and 'duration_s'"
        raise BadInputError(problem, allowed="one of them, or both", file=file)


def _values(frame: pd.DataFrame, name: str, file: Path | None) -> pd.Series:
    """The column ``name``: text, or floats with NaN for what is absent."""
    is_text = JOB_COLUMNS[name].dtype == "string"
    if name not in frame.columns or frame[name].isna().all():
        absent = pd.NA if is_text else 0.0 if name == "line" else np.nan
        return pd.Series(absent, index=range(len(frame)), dtype="string" if is_text else "float64")
    column = frame[name]
    if is_text and pd.api.types.infer_dtype(column, skipna=True) == "string":
        return column.astype("string").reset_index(drop=True)
    if not is_text and column.dtype.kind in "iuf":
        return pd.Series(column.to_numpy(dtype="float64", na_value=np.nan))
    allowed = "text" if is_text else "numbers"
    raise BadInputError(f"is a column of {column.dtype}", allowed=allowed, file=file, key=name)


@dataclass(frozen=True)
class _Rows:
    """Rows to check, and where they came from.

    values: the columns JOB_COLUMNS, numbers as floats.
    """

    values: pd.DataFrame
    file: Path | None
    names: Mapping[str, str]

    def numbers(self, column: str) -> NDArray[np.float64]:
        return self.values[column].to_numpy()

    def refuse(
        self, wrong: NDArray[np.bool_], column: str, problem: str | None = None, allowed: str = ""
    ) -> None:
        """Raise BadInputError for the first row that is ``wrong``, if any is."""
        if not wrong.any():
            return
        row = self.values.iloc[int(np.argmax(wrong))]
        value = row[column]
        if problem is None:
            unit = JOB_COLUMNS[column].unit
            problem = (
                "no value"
                if pd.isna(value)
                else repr(value)
                if isinstance(value, str)
                else f"{value:.12g} {unit}".rstrip()
            )
        raise BadInputError(
            f"a job has {problem}" if pd.isna(row["job"]) else f"job {row['job']!r} has {problem}",
            allowed=allowed or _ALLOWED[column],
            file=self.file,
            line=int(row["line"]) or None,
            key=self.names.get(column, column),
        )


def _refuse_values(rows: _Rows) -> None:
    line = rows.numbers("line")
    wrong = ~(np.isfinite(line) & (line >= 0) & (line == np.floor(line)))
    if wrong.any():  # not by rows.refuse, which says the line
        raise BadInputError(
            "a line is no line number", allowed=_ALLOWED["line"], file=rows.file, key="line"
        )
    for column in _TEXTS:
        blank = (rows.values[column] == "").fillna(column == "job").to_numpy(dtype=bool)
        rows.refuse(blank, column, "an empty text", _ALLOWED.get(column, "a name"))
    same = rows.values["job"].duplicated().to_numpy()
    rows.refuse(same, "job", "the id of another job")

    submit_s, num_gpus = rows.numbers("submit_s"), rows.numbers("num_gpus")
    rows.refuse(~((submit_s >= 0) & (submit_s <= MAX_TIME_S)), "submit_s")
    whole = num_gpus == np.floor(num_gpus)
    rows.refuse(~(whole & (num_gpus >= 1) & (num_gpus <= MAX_GPUS)), "num_gpus")

    for column, most in _MOST.items():
        amount = rows.numbers(column)
        rows.refuse(~np.isnan(amount) & ~((amount > 0) & (amount <= most)), column)
    for column, most in _MOST_OR_NONE.items():
        amount = rows.numbers(column)
        rows.refuse(~np.isnan(amount) & ~((amount >= 0) & (amount <= most)), column)
    state = rows.values["state"]
    rows.refuse((state.notna() & ~state.isin(STATES)).to_numpy(dtype=bool), "state")
    known = {column: ~np.isnan(rows.numbers(column)) for column in _AMOUNTS}
    used = next((column for column in _AMOUNTS if known[column].any()), "iterations")
    rows.refuse(~np.logical_or.reduce(list(known.values())), used)


def instant_of(began: str) -> datetime.datetime:
    """What ``JobTrace.began`` says: in UTC, or without a zone where it says none.

    Raises ValueError where it is no instant in ISO 8601.
    """
    instant = datetime.datetime.fromisoformat(began)
    try:
        return instant if instant.tzinfo is None else instant.astimezone(datetime.UTC)
    except OverflowError:
        raise ValueError(f"{began!r} is no year from 1 to 9999 in UTC") from None
