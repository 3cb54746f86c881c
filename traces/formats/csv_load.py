"""Plain CSV of times and bytes, one row for each time that counters were read.

The first line names the columns: one of time_s, time_ms, time_us, time_ns; sent_bytes; and, where
it was counted, received_bytes. A field that is empty was not sampled.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats.csv_table import CsvTable, read_named_columns
from traces.load_series import LoadSeries

TIMES = {"time_s": 1.0, "time_ms": 1e-3, "time_us": 1e-6, "time_ns": 1e-9}
SENT, RECEIVED = "sent_bytes", "received_bytes"

_GAP = 1.5  # times the usual interval: in a longer one, rows are missing


class Counting(StrEnum):
    """What the bytes of a row are.

    CUMULATIVE: those since the counter began. INTERVAL: those since the row before.
    """

    CUMULATIVE = "cumulative"
    INTERVAL = "interval"


def read_csv_load(file: Path, counting: Counting | None = None) -> LoadSeries:
    """The series of ``file``. counting: None for what the values tell, which is then said.

    The first row only begins the first interval. A missing reading of a counter makes one longer
    interval; where bytes of an interval are missing, or its row is, they are a gap. Raises
    BadInputError with line and column.
    """
    table = read_named_columns(file, (SENT,), (*TIMES, RECEIVED))
    time_s = _times_s(table)
    if len(time_s) < 2:
        raise BadInputError("there is one row", allowed="two or more", file=file)
    notes = list(table.notes)
    columns = [name for name in (SENT, RECEIVED) if name in table.rows]
    values = {name: _bytes(table, name) for name in columns}
    if counting is None:
        counting = _told(values[SENT])
        notes.append(f"bytes are taken as {counting}, for {_REASONS[counting]}")
    if counting is Counting.CUMULATIVE:
        is_read = ~np.isnan(values[SENT])
        edges_s = time_s[is_read]
        if len(edges_s) < 2:
            table.refuse(~is_read, SENT, "two readings or more")
        per_interval = {name: np.diff(each[is_read]) for name, each in values.items()}
        backwards = int(np.count_nonzero(per_interval[SENT] < 0))
        per_interval = {
            name: np.where(each < 0, np.nan, each) for name, each in per_interval.items()
        }
        if backwards:
            notes.append(f"intervals in which the counter went back, taken as gaps: {backwards:,}")
    else:
        edges_s, per_interval, added = _with_gaps(
            time_s, {name: each[1:] for name, each in values.items()}
        )
        if added:
            notes.append(f"gaps where rows are missing: {added:,}")
    return LoadSeries(
        edges_s,
        per_interval[SENT],
        per_interval.get(RECEIVED),
        source=table.source,
        notes=tuple(notes),
    )


_REASONS = {
    Counting.CUMULATIVE: "no row has less than the one before",
    Counting.INTERVAL: "some rows have less than the one before",
}


def _times_s(table: CsvTable) -> NDArray[np.float64]:
    """From the first row on, ascending."""
    there = [name for name in TIMES if name in table.rows]
    if len(there) != 1:
        raise BadInputError(
            f"the first line has {len(there)} columns of times",
            allowed=f"one of {', '.join(TIMES)}",
            file=table.file,
            line=1,
        )
    (name,) = there
    times = table.numbers(name)
    table.refuse(~np.isfinite(times), name, "a finite time")
    is_late = np.append(True, np.diff(times) > 0)
    table.refuse(~is_late, name, "a time after that of the row before")
    time_s: NDArray[np.float64] = (times - times[0]) * TIMES[name]
    return time_s


def _bytes(table: CsvTable, name: str) -> NDArray[np.float64]:
    values = table.numbers_or_nan(name)
    table.refuse(np.isinf(values) | (values < 0), name, "bytes of zero or more, or nothing")
    return values


def _told(sent_bytes: NDArray[np.float64]) -> Counting:
    known = sent_bytes[~np.isnan(sent_bytes)]
    return Counting.INTERVAL if (np.diff(known) < 0).any() else Counting.CUMULATIVE


def _with_gaps(
    time_s: NDArray[np.float64], values: dict[str, NDArray[np.float64]]
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], int]:
    """Edges and bytes, with an interval of unknown bytes before each row that usually would not be
    the next one; and how many these are."""
    lengths_s = np.diff(time_s)
    usual_s = float(np.median(lengths_s))
    after_gap = np.flatnonzero(lengths_s > _GAP * usual_s)
    edges_s = np.insert(time_s, after_gap + 1, time_s[after_gap + 1] - usual_s)
    filled = {name: np.insert(each, after_gap, np.nan) for name, each in values.items()}
    return edges_s, filled, len(after_gap)
