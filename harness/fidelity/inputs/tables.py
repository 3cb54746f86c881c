"""CSV and Parquet tables: a row a job, or a row an iteration.

A row with ``jct_s`` is a job: ``job`` and ``jct_s`` (s, empty where it did not end), and where it
is known ``arm``, ``seed``, ``submit_s``, ``finish_s``, ``queue_s``, ``run_s``, ``starts`` and
``iteration_s``, the mean of its iterations. A row without is an iteration: ``job`` and
``iteration_s``, and where it is known ``arm``, ``seed`` and ``iteration``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from harness.fidelity.inputs.results import (
    JOB_COUNTS,
    JOB_TIMES,
    MOST_ROWS,
    Results,
    checked_iterations,
    checked_jobs,
)
from traces.errors import BadInputError
from traces.formats.csv_table import read_named_columns

_TEXTS = ("arm", "seed")
_NUMBERS = ("iteration", "iteration_s", "jct_s", *JOB_TIMES, *JOB_COUNTS)
_KNOWN = (*_TEXTS, "job", *_NUMBERS)

REQUIRED = "a column job, and jct_s or iteration_s (or both), in s"


def is_table(names: Sequence[str]) -> bool:
    """Whether a file with these columns is such a table."""
    return "job" in names and ("jct_s" in names or "iteration_s" in names)


def read_csv(file: Path) -> Results:
    """Raises BadInputError with line and column."""
    table = read_named_columns(file, ("job",), _KNOWN)
    columns = {name: table.words_or_none(name) for name in _TEXTS if name in table.rows}
    columns["job"] = table.words("job")
    for name in _NUMBERS:
        if name in table.rows:
            columns[name] = pd.Series(table.numbers_or_nan(name))
    frame = pd.DataFrame(columns).set_axis(pd.Index(table.lines))
    return results_of(frame, file, table.notes)


def read_parquet(file: Path) -> Results:
    """Raises BadInputError with row and column. Rows whose ``counted`` is false are left out."""
    frame = parquet_frame(file, (*_KNOWN, "counted"))
    notes: tuple[str, ...] = ()
    if "counted" in frame:
        frame, notes = counted_rows(frame)
    return results_of(frame, file, notes)


def results_of(frame: pd.DataFrame, file: Path, notes: Sequence[str]) -> Results:
    """The rows of ``frame``, whose index is the line."""
    if not is_table(list(frame.columns)):
        raise BadInputError("lacks a column", allowed=REQUIRED, file=file)
    if "jct_s" not in frame:
        return Results(str(file), None, checked_iterations(frame, file), tuple(notes))
    jobs = checked_jobs(frame.drop(columns=["iteration", "iteration_s"], errors="ignore"), file)
    if "iteration_s" not in frame:
        return Results(str(file), jobs, None, tuple(notes))
    means = frame[frame["iteration_s"].notna()]
    known = [name for name in (*_TEXTS, "job", "iteration_s") if name in frame]
    return Results(str(file), jobs, checked_iterations(means[known], file), tuple(notes))


def counted_rows(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Those that count, and what to say of the others."""
    counts = frame["counted"].fillna(False).to_numpy(dtype=bool)
    others = int(np.count_nonzero(~counts))
    notes = (f"rows that do not count (warm-up or outside of the window): {others:,}",)
    return frame[counts].drop(columns="counted"), notes if others else ()


def parquet_names(file: Path) -> list[str]:
    """The columns of ``file``. Raises BadInputError where it is no Parquet file."""
    try:
        return list(pq.read_schema(file).names)
    except (OSError, pa.ArrowException) as error:
        raise _damaged(file, error) from None


def parquet_frame(file: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Of ``columns`` those that ``file`` has; the index is the row, from 1.

    Raises BadInputError where a number is none, or the file is damaged or too large.
    """
    try:
        with pq.ParquetFile(file) as parquet:
            if parquet.metadata.num_rows > MOST_ROWS:
                raise BadInputError(
                    f"the table has {parquet.metadata.num_rows:,} rows",
                    allowed=f"at most {MOST_ROWS:,}",
                    file=file,
                )
            there = parquet.schema_arrow.names
            table = parquet.read([name for name in columns if name in there])
    except (OSError, pa.ArrowException) as error:
        raise _damaged(file, error) from None
    for name in table.column_names:
        _refuse_not_a_number(table[name], name, file)
    frame: pd.DataFrame = table.to_pandas()
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1))


def _refuse_not_a_number(column: pa.ChunkedArray, name: str, file: Path) -> None:
    """A time that is empty is one that there is none of; a NaN is a mistake of whoever wrote it."""
    if name in _NUMBERS and not _is_number(column.type):
        raise BadInputError(
            f"the column is of the type {column.type}", allowed="numbers", file=file, key=name
        )
    if not pa.types.is_floating(column.type):
        return
    found = pc.index(pc.fill_null(pc.is_nan(column), False), True).as_py()
    if found >= 0:
        raise BadInputError(
            "the value is NaN",
            allowed="a number, or null where there is none",
            file=file,
            line=found + 1,
            key=name,
        )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _damaged(file: Path, error: Exception) -> BadInputError:
    reason = str(error).partition("\n")[0]
    return BadInputError(f"cannot be read: {reason}", allowed="a Parquet table", file=file)
