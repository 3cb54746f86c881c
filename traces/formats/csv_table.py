"""Reads a CSV file of a known shape as text that knows its lines.

The shape of every line is checked before pandas sees it, so pandas has nothing to guess and nothing
to fail at.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError

MAX_FILE_BYTES = 2**30
MAX_SHOWN = 60  # characters of a bad value in an error

# Without these, lines and fields are what LF and comma divide.
_REFUSED_BYTES = re.compile(rb'["\x00]|\r(?!\n)')


@dataclass(frozen=True, eq=False)
class CsvTable:
    """The rows of a CSV file.

    rows: text, one column for each field; the index is the line in the file, from 1.
    """

    file: Path
    sha256: str
    rows: pd.DataFrame
    blank_lines: int

    @property
    def source(self) -> str:
        return f"{self.file.name}, SHA-256 {self.sha256}"

    @property
    def lines(self) -> NDArray[np.int64]:
        return self.rows.index.to_numpy()

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"blank lines left out: {self.blank_lines:,}",) if self.blank_lines else ()

    def words(self, column: str) -> pd.Series:
        """The texts of ``column``, index 0 to n-1. BadInputError where one is empty."""
        texts = self.rows[column].str.strip().reset_index(drop=True)
        self.refuse((texts == "").to_numpy(dtype=bool), column, "a value")
        return texts

    def numbers(self, column: str) -> NDArray[np.float64]:
        """The numbers of ``column``, also infinite ones. BadInputError where one is none."""
        parsed = pd.to_numeric(self.rows[column], errors="coerce")
        values = parsed.to_numpy(dtype="float64", na_value=np.nan)
        self.refuse(np.isnan(values), column, "a number")
        return values

    def refuse(self, wrong: NDArray[np.bool_], column: str, allowed: str) -> None:
        """Raise BadInputError for the first row that is ``wrong``, if any is."""
        if not wrong.any():
            return
        row = int(np.argmax(wrong))
        text = str(self.rows[column].iat[row])
        shown = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "..."
        raise BadInputError(
            f"the value is {shown!r}",
            allowed=allowed,
            file=self.file,
            line=int(self.lines[row]),
            key=column,
        )


def read_csv_table(file: Path, columns: Sequence[str], *, has_header: bool) -> CsvTable:
    """Read ``file``, whose lines have the fields ``columns``, and whose first line names them.

    has_header: False where there is no such line.

    Blank lines, CR LF and a byte order mark are fine. Raises BadInputError, with the line where
    there is one, for what is larger than 1 GiB, no UTF-8 text, quoted, without rows, or has other
    fields.
    """
    data = _read(file)
    fields = _fields_per_line(data)
    if has_header and len(fields):
        if not is_header(data.partition(b"\n")[0].decode(), columns):
            raise BadInputError(
                "the first line is another one", allowed=",".join(columns), file=file, line=1
            )
        fields[0] = 0
    wrong = (fields != 0) & (fields != len(columns))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadInputError(
            f"the number of fields is {fields[row]}",
            allowed=f"{len(columns)}: {','.join(columns)}",
            file=file,
            line=row + 1,
        )
    lines = np.flatnonzero(fields) + 1
    if not len(lines):
        raise BadInputError("there is no row", allowed="one row or more", file=file)
    rows = pd.read_csv(
        io.BytesIO(data),
        engine="c",
        header=None,
        names=list(columns),
        dtype="string",
        keep_default_na=False,
        skip_blank_lines=False,
    ).iloc[lines - 1]
    return CsvTable(
        file=file,
        sha256=hashlib.sha256(data).hexdigest(),
        rows=rows.set_axis(pd.Index(lines)),
        blank_lines=int(np.count_nonzero(fields == 0)) - has_header,
    )


def is_header(line: str, columns: Sequence[str]) -> bool:
    """Whether ``line`` is the header of a file with these ``columns``."""
    return line.removeprefix("\ufeff").strip() == ",".join(columns)


def _read(file: Path) -> bytes:
    allowed = "a CSV file in UTF-8 of at most 1 GiB"
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed=allowed, file=file) from None
    if len(data) > MAX_FILE_BYTES:
        raise BadInputError("the file is too large", allowed=allowed, file=file)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInputError("is not UTF-8 text", allowed=allowed, file=file, line=line) from None
    found = _REFUSED_BYTES.search(data)
    if found:
        raise BadInputError(
            f"has the character {found[0].decode()!r}",
            allowed="values without quotation marks, in lines that end with LF or CR LF",
            file=file,
            line=data.count(b"\n", 0, found.start()) + 1,
        )
    return data


def _fields_per_line(data: bytes) -> NDArray[np.int64]:
    """For each line of ``data``, how many fields it has; 0 where it is blank."""
    characters = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    if data and not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    commas_before = np.searchsorted(np.flatnonzero(characters == ord(",")), ends)
    lengths = np.diff(ends, prepend=-1) - 1
    lengths -= characters[ends - 1] == ord("\r")
    return np.where(lengths > 0, np.diff(commas_before, prepend=0) + 1, 0)
