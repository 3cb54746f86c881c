"""Reads a CSV file of a known shape as text that knows its lines.

The shape of every line is checked before pandas sees it, so pandas has nothing to guess and nothing
to fail at.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from traces.errors import BadInputError, shown
from traces.formats.csv_part import Part, read_part
from traces.trace_format import source_words


@dataclass(frozen=True, eq=False)
class CsvTable:
    """The rows of a CSV file.

    rows: text, one column for each field; the index is the line in the file, from 1.
    sha256: of what was read, the ``share`` of the file from its beginning.
    unread: columns that the file has besides.
    """

    file: Path
    sha256: str
    rows: pd.DataFrame
    blank_lines: int
    share: float = 1.0
    unread: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        return source_words(self.file, self.sha256, self.share)

    @property
    def lines(self) -> NDArray[np.int64]:
        return self.rows.index.to_numpy()

    @property
    def notes(self) -> tuple[str, ...]:
        found = [f"blank lines left out: {self.blank_lines:,}"] if self.blank_lines else []
        if self.unread:
            found.append(f"columns that are not read: {', '.join(self.unread)}")
        return tuple(found)

    def words(self, column: str) -> pd.Series:
        """The texts of ``column``, index 0 to n-1. BadInputError where one is empty."""
        texts = self.rows[column].str.strip().reset_index(drop=True)
        self.refuse((texts == "").to_numpy(dtype=bool), column, "a value")
        return texts

    def words_or_none(self, column: str) -> pd.Series:
        """The texts of ``column``, index 0 to n-1, null where one is empty."""
        texts = self.rows[column].str.strip().reset_index(drop=True)
        return texts.mask(texts == "")

    def numbers_or_nan(self, column: str) -> NDArray[np.float64]:
        """As ``numbers``, NaN where a field is empty."""
        texts = self.words_or_none(column)
        values = numbers_in(texts)
        self.refuse(np.isnan(values) & texts.notna().to_numpy(), column, "a number, or nothing")
        return values

    def numbers(self, column: str) -> NDArray[np.float64]:
        """The numbers of ``column``, also infinite ones. BadInputError where one is none."""
        values = numbers_in(self.rows[column])
        self.refuse(np.isnan(values), column, "a number")
        return values

    def refuse(self, wrong: NDArray[np.bool_], column: str, allowed: str) -> None:
        """Raise BadInputError for the first row that is ``wrong``, if any is."""
        if not wrong.any():
            return
        row = int(np.argmax(wrong))
        raise BadInputError(
            f"the value is {shown(str(self.rows[column].iat[row]))}",
            allowed=allowed,
            file=self.file,
            line=int(self.lines[row]),
            key=column,
        )


def read_csv_table(
    file: Path,
    columns: Sequence[str],
    *,
    has_header: bool,
    separator: str = ",",
    share: float = 1.0,
) -> CsvTable:
    """Read ``file``, whose lines have the fields ``columns``, and whose first line names them.

    has_header: False where there is no such line. share: of the file, from its beginning.

    Blank lines, CR LF, a byte order mark and a separator at the end of a line are fine. Raises
    BadInputError, with the line where there is one, for what is larger than 1 GiB, no UTF-8 text,
    quoted, without rows, or has other fields.
    """
    part = read_part(file, share, quotes=False)
    if has_header and part.data and not is_header(part.first_line, columns, separator):
        raise BadInputError(
            "the first line is another one", allowed=separator.join(columns), file=file, line=1
        )
    return _table(file, part, columns, separator, has_header=has_header)


def read_named_columns(
    file: Path,
    required: Sequence[str],
    optional: Sequence[str] = (),
    *,
    separator: str = ",",
    share: float = 1.0,
    quotes_are_text: bool = False,
) -> CsvTable:
    """Read a ``file`` whose first line names its columns, which stand in any order.

    All of the ``required`` must be there; of the ``optional`` those that are there are in the
    table. Columns with other names are not read, and said in the notes. quotes_are_text: whether
    quotation marks are text as any other, and else refused. Else as read_csv_table.
    """
    part = read_part(file, share, quotes=quotes_are_text)
    if not part.data:
        raise BadInputError("there is no row", allowed="one row or more", file=file)
    names = header_names(part.first_line, separator)
    wanted = f"a first line with the columns {', '.join(required)}"
    for name in required:
        if name not in names:
            raise BadInputError(
                f"the first line has no column {name!r}", allowed=wanted, file=file, line=1
            )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInputError(
            f"the column {twice!r} stands twice", allowed=wanted, file=file, line=1, key=twice
        )
    known = [name for name in names if name in required or name in optional]
    unread = tuple(name for name in names if name not in known)
    table = _table(file, part, names, separator, has_header=True, used=known)
    return replace(table, unread=unread)


def read_rows(
    file: Path, forms: Sequence[Sequence[str]], *, separator: str, share: float = 1.0
) -> CsvTable:
    """Read a ``file`` without a first line of names, whose fields are one of ``forms``.

    Its first row tells which, by how many fields it has. Quotation marks are text as any other.
    Else as read_csv_table.
    """
    part = read_part(file, share, quotes=True)
    counts, ends_with_separator = _fields_per_line(part.data, separator)
    rows = np.flatnonzero(counts)
    if not len(rows):
        raise BadInputError("there is no row", allowed="one row or more", file=file)
    first = int(rows[0])
    count = int(counts[first])
    possible = (count, count - 1) if ends_with_separator[first] else (count,)
    columns = next((each for each in forms if len(each) in possible), None)
    if columns is None:
        raise BadInputError(
            f"the number of fields is {count}",
            allowed=", or ".join(f"{len(each)}: {', '.join(each)}" for each in forms),
            file=file,
            line=first + 1,
        )
    return _table(file, part, columns, separator, has_header=False)


def is_header(line: str, columns: Sequence[str], separator: str = ",") -> bool:
    """Whether ``line`` is the header of a file with these ``columns``."""
    return header_names(line, separator) == list(columns)


def header_names(line: str, separator: str = ",") -> list[str]:
    """The names in the header ``line``; a separator at its end does not count."""
    text = line.removeprefix("\ufeff").strip()
    return [name.strip() for name in text.removesuffix(separator).split(separator)]


def numbers_in(texts: pd.Series) -> NDArray[np.float64]:
    """The numbers that ``texts`` are, NaN where one is none or null."""
    try:
        # Several times as fast, but all texts have to be numbers without blanks.
        numbers = pa.array(texts).cast(pa.float64())
    except pa.ArrowInvalid:
        parsed = pd.to_numeric(texts, errors="coerce")
        return parsed.to_numpy(dtype="float64", na_value=np.nan)
    values: NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False)
    return values


def _table(
    file: Path,
    part: Part,
    columns: Sequence[str],
    separator: str,
    *,
    has_header: bool,
    used: Sequence[str] | None = None,
) -> CsvTable:
    """used: the columns that are wanted, None for all."""
    data = part.data
    fields, ends_with_separator = _fields_per_line(data, separator)
    over = ends_with_separator & (fields == len(columns) + 1)
    if over.any():
        data = _without_last_separator(data, over)
        fields = np.where(over, len(columns), fields)
    if has_header and len(fields):
        fields[0] = 0
    wrong = (fields != 0) & (fields != len(columns))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadInputError(
            f"the number of fields is {fields[row]}",
            allowed=f"{len(columns)}: {separator.join(columns)}",
            file=file,
            line=row + 1,
        )
    lines = np.flatnonzero(fields) + 1
    if not len(lines):
        raise BadInputError("there is no row", allowed="one row or more", file=file)
    rows = pd.read_csv(
        io.BytesIO(data),
        engine="c",
        sep=separator,
        header=None,
        names=list(columns),
        dtype="string",
        keep_default_na=False,
        skip_blank_lines=False,
        quoting=csv.QUOTE_NONE,
        usecols=list(columns if used is None else used),
    )
    first, last = int(lines[0]), int(lines[-1])
    # A slice is no copy.
    together = last - first + 1 == len(lines)
    rows = rows.iloc[first - 1 : last] if together else rows.iloc[lines - 1]
    return CsvTable(
        file=file,
        sha256=part.sha256,
        rows=rows.set_axis(pd.Index(lines)),
        blank_lines=int(np.count_nonzero(fields == 0)) - has_header,
        share=part.share,
    )


def _without_last_separator(data: bytes, lines: NDArray[np.bool_]) -> bytes:
    """``data`` where the marked ``lines`` end one character earlier."""
    kept = []
    for line, over in zip(data.split(b"\n"), lines.tolist(), strict=False):
        kept.append(line.rstrip(b"\r")[:-1] if over else line)
    return b"\n".join(kept)


def _fields_per_line(data: bytes, separator: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each line of ``data``, how many fields it has, 0 where it is blank; and whether it ends
    with a separator."""
    characters = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    if data and not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    separators_before = np.searchsorted(np.flatnonzero(characters == ord(separator)), ends)
    lengths = np.diff(ends, prepend=-1) - 1
    returns = characters[ends - 1] == ord("\r")
    lengths -= returns
    last = characters[np.maximum(ends - 1 - returns, 0)] == ord(separator)
    fields = np.where(lengths > 0, np.diff(separators_before, prepend=0) + 1, 0)
    return fields, last & (lengths > 0)
