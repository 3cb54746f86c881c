"""The rows of AICB's CSV, checked, in SI units."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from traces.communication_trace import ImportOptions
from traces.errors import BadInputError
from traces.formats.group_sizes import MAX_WORKERS
from traces.formats.rank_program import MAX_OPERATIONS, MAX_SIZE_BYTES, MAX_TIME_S
from traces.formats.text_lines import Line, stream_lines

ALLOWED = "a log or a workload as AICB writes it, all of it, or --partial for what is there of it"
RANKS = re.compile(r"\[rank(\d{1,7}) ~ rank(\d{1,7})\]")
_REQUIRED = ("comm_type", "comm_group", "comm_group_size", "msg_size", "_elapsed_time", "algbw")
# The size of a computation is the shape of its two matrices, whose commas nothing quotes.
_SHAPES = re.compile(r"\(\([\d, ]*\), \([\d, ]*\)\)")
_NO_VALUE = frozenset({"", "None"})


class Row(NamedTuple):
    """An operation. group_size, elapsed_s: None where the row does not say.

    size_bytes: of all the ``count`` times that it is done.
    """

    kind: str
    group: str
    group_size: int | None
    size_bytes: float
    elapsed_s: float | None
    line: int


class AicbRows:
    """Reads the rows of a file. num_ranks: as its first line says; notes: what was assumed."""

    def __init__(self, file: Path, options: ImportOptions) -> None:
        self.num_ranks: int | None = None
        self.notes: list[str] = []
        self._file = file
        self._options = options
        self._columns: dict[str, int] = {}

    def rows(self) -> Iterator[Row]:
        """Yield them in order. Raises BadInputError with the line and the column."""
        for line in stream_lines(self._file, ALLOWED):
            if not self._columns:
                self._take_header(line)
            elif (row := self._row(line)) is not None:
                if line.number > MAX_OPERATIONS:
                    raise self._refuse("there are too many rows", line)
                yield row
        if not self._columns:
            raise BadInputError("has no header", allowed=ALLOWED, file=self._file, line=1)

    def _take_header(self, line: Line) -> None:
        ranks = RANKS.fullmatch(line.text.strip())
        if ranks and self.num_ranks is None:
            self.num_ranks = int(ranks[2]) - int(ranks[1]) + 1
            if self.num_ranks < 1:
                raise self._refuse("the last rank comes before the first", line)
            return
        names = [name.strip() for name in line.text.split(",")]
        missing = [name for name in _REQUIRED if name not in names]
        if missing:
            problem = f"the header lacks the columns {', '.join(missing)}"
            raise self._refuse(problem, line)
        self._columns = {name: place for place, name in enumerate(names)}
        self._width = len(names)

    def _row(self, line: Line) -> Row | None:
        """None for a row that is cut off, where that is wanted."""
        values = [value.strip() for value in _SHAPES.sub("0", line.text).split(",")]
        if len(values) != self._width:
            if self._options.partial and not line.whole:
                self.notes.append(f"line {line.number} is cut off, and left out")
                return None
            problem = f"has {len(values)} values where the header has {self._width}"
            raise self._refuse(problem, line)
        count = self._number(values, "count", line, MAX_SIZE_BYTES) if self._has("count") else 1.0
        size_bytes = self._number(values, "msg_size", line, MAX_SIZE_BYTES)
        size = self._number(values, "comm_group_size", line, MAX_WORKERS)
        if size is not None and (size < 1 or not size.is_integer()):
            raise self._refuse("is no number of workers", line, "comm_group_size")
        kind = sys.intern(self._value(values, "comm_type").removeprefix("CommType."))
        group = sys.intern(self._value(values, "comm_group").removeprefix("CommGroup."))
        # A workload, which has no bandwidths, has AIOB's nanoseconds in place of milliseconds.
        is_measured = self._value(values, "algbw") not in _NO_VALUE
        elapsed = self._number(values, "_elapsed_time", line, MAX_TIME_S)
        return Row(
            kind,
            group,
            None if size is None else int(size),
            (size_bytes or 0.0) * (1.0 if count is None else count),
            None if elapsed is None else elapsed * (1e-3 if is_measured else 1e-9),
            line.number,
        )

    def _has(self, key: str) -> bool:
        return key in self._columns

    def _value(self, values: Sequence[str], key: str) -> str:
        return values[self._columns[key]]

    def _number(self, values: Sequence[str], key: str, line: Line, largest: float) -> float | None:
        text = self._value(values, key)
        if text in _NO_VALUE:
            return None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number <= largest:
            raise self._refuse("is not a number of zero or more that can be", line, key)
        return number

    def _refuse(self, problem: str, line: Line, key: str | None = None) -> BadInputError:
        return BadInputError(problem, allowed=ALLOWED, file=self._file, line=line.number, key=key)
