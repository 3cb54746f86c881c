"""Reads the tables of a run of rounds, a part at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from traces.errors import BadInputError

_NAMES = ("arm", "job", "model")
_ROWS_AT_ONCE = 1_000_000
_ALLOWED = "a run directory that 'roundelay run', 'simulate' or 'emulate' wrote"


def parts(file: Path, columns: list[str]) -> Iterator[pa.Table]:
    """``columns`` of ``file``, with names as dictionaries; the first part may have no row.

    Raises BadInputError where it is no such table.
    """
    with _opened(file, columns) as parquet:
        yield parquet.schema_arrow.empty_table().select(columns)
        try:
            for batch in parquet.iter_batches(_ROWS_AT_ONCE, columns=columns):
                yield pa.Table.from_batches([batch])
        except (OSError, pa.ArrowException) as error:
            raise _damaged(file, error) from None


def rows(file: Path, columns: list[str], wanted: pc.Expression) -> pd.DataFrame:
    """``columns`` of the rows of ``file`` that are ``wanted``. Raises BadInputError."""
    found: pd.DataFrame = pa.concat_tables(
        part.filter(wanted) for part in parts(file, columns)
    ).to_pandas()
    return found


def _opened(file: Path, columns: list[str]) -> pq.ParquetFile:
    if not file.is_file():
        raise BadInputError(f"there is no {file.name}", allowed=_ALLOWED, file=file.parent)
    try:
        there = pq.read_schema(file).names
    except (OSError, pa.ArrowException) as error:
        raise _damaged(file, error) from None
    for column in columns:
        if column not in there:
            raise BadInputError(f"lacks the column {column!r}", allowed=_ALLOWED, file=file)
    return pq.ParquetFile(file, read_dictionary=[name for name in _NAMES if name in columns])


def _damaged(file: Path, error: Exception) -> BadInputError:
    reason = str(error).partition("\n")[0]
    return BadInputError(f"cannot be read: {reason}", allowed=_ALLOWED, file=file)
