"""Reads a CSV file of any columns as text that knows its lines; fields may be quoted (RFC 4180).

Which separators and ends of lines stand between quotation marks is found first, so that what is
wrong is said with its line, and Arrow's reader has nothing to guess.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats.csv_part import read_part
from traces.formats.csv_table import CsvTable

_BYTE_ORDER_MARK = "\ufeff".encode()
_LEAST_BLOCK_BYTES = 2**22  # that are parsed together
_QUOTE, _LF, _CR = b'"\n\r'


def read_quoted_csv(
    file: Path,
    wanted: Sequence[str],
    *,
    separator: str = ",",
    names: Sequence[str] | None = None,
    share: float = 1.0,
) -> CsvTable:
    """Read the columns ``wanted`` of ``file``; the others are said in the notes.

    names: those of all its columns, where its first line does not name them. share: of the file,
    from its beginning; whole rows only. A row's line is where it begins.

    Blank lines, CR LF, a byte order mark and a separator at the end of a row are fine. Raises
    BadInputError, with the line where there is one, for what is larger than 1 GiB, no UTF-8 text,
    wrongly quoted, without rows, lacks a column, or has rows of another length.
    """
    part = read_part(file, share, quotes=True)
    data = part.data.removeprefix(_BYTE_ORDER_MARK)
    layout = _layout(data, separator, file, is_cut=share < 1)
    if not len(layout.ends):
        raise BadInputError("there is no row", allowed="one row or more", file=file)
    first = 0
    if names is None:
        names = _first_row(data[: layout.ends[0]].decode(), separator, file)
        first = 1
    _refuse_names(names, wanted, file)
    begin = int(layout.begins[first]) if first < len(layout.begins) else len(data)
    over = _extra_separators(layout, first, len(names), separator, file)
    body = data[begin : layout.ends[-1]]
    if len(over):
        body = np.delete(np.frombuffer(body, dtype=np.uint8), over - begin).tobytes()
    lines = layout.lines[first:][layout.fields[first:] > 0]
    if not len(lines):
        raise BadInputError("there is no row", allowed="one row or more", file=file)
    rows = _parsed(body, names, wanted, separator, int((layout.ends - layout.begins).max()))
    return CsvTable(
        file=file,
        sha256=part.sha256,
        rows=rows.set_axis(pd.Index(lines)),
        blank_lines=int(np.count_nonzero(layout.fields[first:] == 0)),
        share=share,
        unread=tuple(name for name in names if name not in wanted),
    )


@dataclass(frozen=True)
class _Layout:
    """Of each row, shape (rows,): where it begins and ends in the data, the line where it begins,
    how many fields it has (0 where it is blank), where its last character is, and whether that is a
    separator."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]
    fields: NDArray[np.int64]
    lasts: NDArray[np.int64]
    ends_with_separator: NDArray[np.bool_]


def _layout(data: bytes, separator: str, file: Path, *, is_cut: bool) -> _Layout:
    """is_cut: whether more of the file follows, so that a last row without an end is left out."""
    characters = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(characters == _QUOTE)
    all_ends = np.flatnonzero(characters == _LF)
    ends = _unquoted(all_ends, quotes)
    separators = _unquoted(np.flatnonzero(characters == ord(separator)), quotes)
    if is_cut and len(ends):
        quotes = quotes[quotes < ends[-1]]
    elif data and (not len(ends) or ends[-1] != len(data) - 1):
        ends = np.append(ends, len(data))
    _refuse_quotes(characters, quotes, separator, all_ends, file)
    begins = np.append(0, ends[:-1] + 1)[: len(ends)]
    # A row ends before CR LF as before LF.
    lasts = ends - 1
    lasts = np.where((lasts > begins) & (characters[np.maximum(lasts, 0)] == _CR), lasts - 1, lasts)
    is_blank = (lasts < begins) | ((lasts == begins) & (characters[np.maximum(lasts, 0)] == _CR))
    counts = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    return _Layout(
        begins=begins,
        ends=ends,
        lines=np.searchsorted(all_ends, begins) + 1,
        fields=np.where(is_blank, 0, counts),
        lasts=lasts,
        ends_with_separator=~is_blank & (characters[np.maximum(lasts, 0)] == ord(separator)),
    )


def _unquoted(places: NDArray[np.int64], quotes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those ``places`` before which an even number of quotation marks stands."""
    return places[np.searchsorted(quotes, places) % 2 == 0] if len(quotes) else places


def _refuse_quotes(
    characters: NDArray[np.uint8],
    quotes: NDArray[np.int64],
    separator: str,
    line_ends: NDArray[np.int64],
    file: Path,
) -> None:
    """BadInputError where a mark does not open a field, close it, or stand doubled inside of it."""
    if not len(quotes):
        return
    opening, closing = quotes[::2], quotes[1::2]
    before = np.where(opening > 0, characters[opening - 1], _LF)
    last = len(characters) - 1
    after = np.where(closing < last, characters[np.minimum(closing + 1, last)], _LF)
    wrong = opening[~np.isin(before, [ord(separator), _LF, _QUOTE])]
    wrong = np.append(wrong, closing[~np.isin(after, [ord(separator), _LF, _CR, _QUOTE])])
    if len(quotes) % 2:
        wrong = np.append(wrong, quotes[-1])
    if len(wrong):
        raise BadInputError(
            "a quotation mark stands where it neither opens nor closes a field",
            allowed="fields in quotation marks as a whole, with those inside of them doubled",
            file=file,
            line=int(np.searchsorted(line_ends, wrong.min())) + 1,
        )


def header_of(text: str, separator: str = ",") -> list[str]:
    """The names in the row ``text``; a separator at its end does not count. Raises csv.Error."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    names = [name.strip() for name in next(rows, [])]
    return names[:-1] if len(names) > 1 and not names[-1] else names


def _first_row(text: str, separator: str, file: Path) -> list[str]:
    try:
        return header_of(text, separator)
    except csv.Error as error:
        raise BadInputError(
            f"the first row cannot be read: {error}", allowed="names of columns", file=file, line=1
        ) from None


def _refuse_names(names: Sequence[str], wanted: Sequence[str], file: Path) -> None:
    allowed = f"the columns {', '.join(wanted)}, each once"
    for name in wanted:
        if names.count(name) != 1:
            problem = "stands twice" if name in names else "is not there"
            raise BadInputError(
                f"the column {name!r} {problem}", allowed=allowed, file=file, line=1, key=name
            )


def _extra_separators(
    layout: _Layout, first: int, columns: int, separator: str, file: Path
) -> NDArray[np.int64]:
    """Where rows end with a separator too many; BadInputError for rows of another length."""
    fields = layout.fields[first:]
    over = layout.ends_with_separator[first:] & (fields == columns + 1)
    wrong = (fields != 0) & (fields != columns) & ~over
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BadInputError(
            f"the number of fields is {fields[row]}",
            allowed=f"{columns}, between {separator!r}",
            file=file,
            line=int(layout.lines[first + row]),
        )
    places: NDArray[np.int64] = layout.lasts[first:][over]
    return places


def _parsed(
    body: bytes, names: Sequence[str], wanted: Sequence[str], separator: str, longest_bytes: int
) -> pd.DataFrame:
    places = {name: str(names.index(name)) for name in wanted}
    table = pyarrow.csv.read_csv(
        pa.BufferReader(body),
        read_options=pyarrow.csv.ReadOptions(
            column_names=[str(place) for place in range(len(names))],
            block_size=max(_LEAST_BLOCK_BYTES, 2 * longest_bytes),
        ),
        parse_options=pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=list(places.values()),
            column_types={place: pa.string() for place in places.values()},
            strings_can_be_null=False,
            check_utf8=False,
        ),
    )
    text = {pa.string(): pd.StringDtype("pyarrow")}
    rows: pd.DataFrame = table.rename_columns(list(places)).to_pandas(types_mapper=text.get)
    return rows
