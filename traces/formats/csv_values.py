"""What the columns of a CSV file say, in a trace's units, as a mapping describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.formats.csv_mapping import EPOCH_UNITS, ISO, SIZE_UNITS, TIME_UNITS, ColumnSpec
from traces.formats.csv_table import CsvTable, numbers_in
from traces.formats.instants import dated, iso_seconds, since_epoch_s
from traces.job_trace import JOB_COLUMNS, STATES

_UNITS = TIME_UNITS | SIZE_UNITS


class Times(NamedTuple):
    """Times of one column.

    seconds: shape (rows,), NaN where there is none; from 1970 if they are instants.
    are_utc: whether they are instants in UTC. are_instants: else they count from any zero.
    moved: how many stand in an hour that the clocks of their zone repeat or skip.
    """

    seconds: NDArray[np.float64]
    are_instants: bool
    are_utc: bool
    moved: int = 0


@dataclass(frozen=True)
class CsvValues:
    """empty: texts that mean that there is no value. All raise BadInputError with the line."""

    table: CsvTable
    empty: frozenset[str]

    def texts(self, name: str, spec: ColumnSpec) -> pd.Series:
        """Those of the trace's column ``name``, null where there is none."""
        if spec.column is None:
            return pd.Series(str(spec.value), index=range(len(self.table.rows)), dtype="string")
        found = self._words(spec.column)
        if name != "state":
            return found
        states = spec.words or {state: state for state in STATES}
        unknown = ~found.isin([*states]) & found.notna()
        self.table.refuse(unknown.to_numpy(dtype=bool), spec.column, ", ".join(states))
        return found.map(states).astype("string")

    def numbers(self, name: str, spec: ColumnSpec) -> NDArray[np.float64]:
        """Those of the trace's column ``name`` in its unit, NaN where there is none."""
        if spec.begin is not None and spec.end is not None:
            begin, end = self.times(spec.begin, spec), self.times(spec.end, spec)
            if begin.are_utc != end.are_utc:
                both = ~np.isnan(begin.seconds) & ~np.isnan(end.seconds)
                self.table.refuse(both, spec.end, "an offset as the other end has, or a time_zone")
            return end.seconds - begin.seconds
        if spec.column is None:
            return np.full(len(self.table.rows), float(spec.value or 0))
        default = "s" if JOB_COLUMNS[name].unit == "s" else "B"
        return self._numbers(spec.column) * _UNITS[spec.unit or default]

    def times(self, column: str, spec: ColumnSpec) -> Times:
        """The times in the file's ``column``, in the unit of ``spec``."""
        unit = spec.unit or "s"
        if unit in TIME_UNITS:
            seconds = self._numbers(column) * TIME_UNITS[unit]
            return Times(seconds, are_instants=False, are_utc=False)
        words = self._words(column)
        known = words.notna().to_numpy(dtype=bool)
        if unit in EPOCH_UNITS:
            seconds, has_offset = dated(self._numbers(column) * EPOCH_UNITS[unit]), known
        elif unit == ISO:
            seconds, has_offset = iso_seconds(words)
        else:
            seconds = since_epoch_s(pd.to_datetime(words, format=unit, errors="coerce", utc=True))
            has_offset = np.full(len(words), "%z" in unit.lower())  # %Z is that of a zone's name
        example = "a time in ISO 8601" if unit == ISO else f"a time as {unit!r}"
        self.table.refuse(known & np.isnan(seconds), column, example)
        if spec.time_zone is not None:
            local = known & ~has_offset
            seconds[local], moved = _in_utc(seconds[local], spec.time_zone)
            return Times(seconds, are_instants=True, are_utc=True, moved=moved)
        if known.any() and has_offset[known].any():
            allowed = "an offset, as other rows have; or a time_zone for those without"
            self.table.refuse(known & ~has_offset, column, allowed)
            return Times(seconds, are_instants=True, are_utc=True)
        return Times(seconds, are_instants=True, are_utc=False)

    def _words(self, column: str) -> pd.Series:
        texts = self.table.rows[column].str.strip().reset_index(drop=True)
        return texts.mask(texts.isin([*self.empty]))

    def _numbers(self, column: str) -> NDArray[np.float64]:
        words = self._words(column)
        found = numbers_in(words)
        wrong = np.isnan(found) & words.notna().to_numpy(dtype=bool)
        self.table.refuse(wrong, column, "a number, or one of the texts for no value")
        return found


def _in_utc(local_s: NDArray[np.float64], zone: str) -> tuple[NDArray[np.float64], int]:
    """Seconds on the clocks of ``zone`` in UTC, and how many of these the clocks repeat or skip."""
    times = pd.Series(pd.to_datetime((local_s * 1e6).round().astype("int64"), unit="us"))
    once = times.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
    # An hour that is repeated is taken as standard time.
    is_summer = np.zeros(len(times), dtype=bool)
    zoned = times.dt.tz_localize(zone, ambiguous=is_summer, nonexistent="shift_forward")
    return since_epoch_s(zoned.dt.tz_convert("UTC")), int(once.isna().sum())
