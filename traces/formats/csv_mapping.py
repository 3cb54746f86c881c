"""The mapping file of a plain CSV: which of its columns is which of a trace's, and in what unit."""

from __future__ import annotations

import hashlib
import re
import zoneinfo
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import AfterValidator, BeforeValidator, Field, StrictFloat, StrictInt, StrictStr

from traces.errors import BadInputError
from traces.job_trace import JOB_COLUMNS, STATES
from traces.scenario_file import ScenarioFile, Strict
from traces.trace_format import source_words
from traces.yaml_source import read_yaml

TIME_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
"""Seconds in one of them."""

SIZE_UNITS = {f"{prefix}B": 1000.0**power for power, prefix in enumerate(("", "K", "M", "G", "T"))}
SIZE_UNITS |= {f"{prefix}iB": 1024.0**power for power, prefix in enumerate("KMGT", 1)}
"""Bytes in one of them."""

EPOCH_UNITS = {"epoch": 1.0, "epoch-ms": 1e-3, "epoch-us": 1e-6}
"""Seconds in one of the units that count from 1970 in UTC."""

ISO = "iso"
FORMAT = "a format such as '%Y-%m-%d %H:%M:%S'"

_EXAMPLE = """\
# Which column of a CSV file is which of a trace's. A column of the CSV that no key names is not
# read. Needed are submit_s, num_gpus, and duration_s or iterations.
separator: ","            # one character, or tab
# names: [id, sent, ...]  # the file's columns, where its first line does not name them
empty: ["", "NA", "None"] # texts that mean that there is no value

columns:
  job: id                 # short for {column: id}; without this key jobs are numbered
  submit_s:
    column: submitted
    unit: iso             # or epoch, epoch-ms, epoch-us, a format such as "%d/%m/%Y %H:%M", or,
                          # where it counts from any zero: us, ms, s, min, h, d
    time_zone: Europe/Berlin  # of times without an offset; without this key theirs is not known
  num_gpus: gpus
  duration_s:
    begin: started        # where the file has the ends of a time instead of its length;
    end: finished         # else column: runtime, with a unit of us, ms, s, min, h, d
    unit: iso
  memory_bytes:
    column: memory
    unit: GiB             # B, KB, MB, GB, TB, KiB, MiB, GiB, TiB
  user: owner
  gpu_type:
    value: V100           # the same for all jobs
  state:
    column: status
    words: {OK: completed, ERROR: failed, KILLED: cancelled}
"""

MAPPED_COLUMNS = tuple(name for name in JOB_COLUMNS if name != "line")
"""The columns of a trace that a file can have; ``line`` is where a job stands in it."""

_MOST = 1e18  # of a value that is the same for all jobs
_SOURCES = "one of: column; value; begin and end"


def example_mapping() -> str:
    """A mapping file that uses every key, with comments."""
    return _EXAMPLE


def _as_column(given: object) -> object:
    return {"column": given} if isinstance(given, str) else given


def _known_zone(name: str) -> str:
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        allowed = "a name such as 'Europe/Berlin' or 'UTC'"
        raise ValueError(f"{name!r} is no time zone|{allowed}") from None
    return name


def _separator(text: str) -> str:
    character = "\t" if text == "tab" else text
    if len(character) != 1 or not character.isascii() or character in '"\r\n\0':
        raise ValueError(f"{text!r} is no separator|one ASCII character, no quotation mark; or tab")
    return character


def _known_state(state: str) -> str:
    if state not in STATES:
        raise ValueError(f"{state!r} is no state|{', '.join(STATES)}")
    return state


class ColumnSpec(Strict):
    """Where the values of a trace's column come from: a column, the same value for all jobs, or
    the time between two columns; ``words`` say which state a word of the file is."""

    column: str | None = None
    value: StrictStr | StrictInt | StrictFloat | None = None
    begin: str | None = None
    end: str | None = None
    unit: str | None = None
    time_zone: Annotated[str, AfterValidator(_known_zone)] | None = None
    words: dict[str, Annotated[str, AfterValidator(_known_state)]] | None = None

    @property
    def read_columns(self) -> tuple[str, ...]:
        """The columns of the file that it needs."""
        return tuple(name for name in (self.column, self.begin, self.end) if name is not None)


class MappingSpec(Strict):
    """A mapping file, as example_mapping shows."""

    separator: Annotated[str, AfterValidator(_separator)] = ","
    names: list[str] | None = Field(default=None, min_length=1)
    empty: tuple[str, ...] = ("",)
    columns: dict[str, Annotated[ColumnSpec, BeforeValidator(_as_column)]]


@dataclass(frozen=True)
class CsvMapping:
    """spec: what the file says. source: its name and hash; None where there is no such file."""

    spec: MappingSpec
    source: str | None = None

    @property
    def read_columns(self) -> list[str]:
        """The columns of the CSV that it needs, each once."""
        needed = (name for each in self.spec.columns.values() for name in each.read_columns)
        return list(dict.fromkeys(needed))


def own_mapping(names: list[str]) -> CsvMapping:
    """That of a CSV whose columns ``names`` are a trace's."""
    columns = {name: ColumnSpec(column=name) for name in MAPPED_COLUMNS if name in names}
    return CsvMapping(MappingSpec(columns=columns))


def read_mapping(file: Path) -> CsvMapping:
    """Read the mapping ``file``. Raises BadInputError with file, line and key."""
    source = read_yaml(file)
    if not isinstance(source.data, dict):
        raise BadInputError("is no mapping", allowed="the key columns", file=file, line=1)
    described = ScenarioFile(source, MappingSpec, ())
    spec = described.base()
    for error in _problems(spec):
        raise described.locate(error)
    digest = hashlib.sha256(source.text.encode()).hexdigest()
    return CsvMapping(spec, source_words(file, digest))


def _problems(spec: MappingSpec) -> Iterator[BadInputError]:
    """What is wrong with keys that depend on each other, with the key.

    A misspelt key is also a missing one; the unknown key comes first.
    """
    known = ", ".join(MAPPED_COLUMNS)
    for name in spec.columns:
        if name not in MAPPED_COLUMNS:
            yield BadInputError("unknown key", allowed=known, key=f"columns.{name}")
    for name in ("submit_s", "num_gpus"):
        if name not in spec.columns:
            yield BadInputError(f"lacks the key {name!r}", allowed=known, key="columns")
    if not {"duration_s", "iterations"} & set(spec.columns):
        problem = "lacks both keys 'duration_s' and 'iterations'"
        yield BadInputError(problem, allowed="one of them, or both", key="columns")
    for name, column in spec.columns.items():
        for key, problem, allowed in (*_wrong_source(name, column), *_wrong_unit(name, column)):
            where = f"columns.{name}.{key}".removesuffix(".")
            yield BadInputError(problem, allowed=allowed, key=where)
    if spec.names is not None:
        yield from _problems_of_names(spec)


_Wrong = Iterator[tuple[str, str, str]]  # key below the column's, problem, what is allowed


def _wrong_source(name: str, spec: ColumnSpec) -> _Wrong:
    given = {key for key in ("column", "value", "begin", "end") if getattr(spec, key) is not None}
    if given not in ({"column"}, {"value"}, {"begin", "end"}):
        yield "", "does not say what it is read from", _SOURCES
    if spec.begin is not None and (name == "submit_s" or JOB_COLUMNS[name].unit != "s"):
        yield "begin", "is no length of time", "one of: column; value"
    is_text = JOB_COLUMNS[name].dtype == "string"
    if spec.value is not None and isinstance(spec.value, str) != is_text:
        yield "value", f"{spec.value!r} is not allowed here", "a text" if is_text else "a number"
    elif not (spec.value is None or isinstance(spec.value, str) or abs(spec.value) <= _MOST):
        yield "value", "is out of range", f"a number of at most {_MOST:g}"
    if spec.value is not None and name == "job":
        yield "value", "gives all jobs the same id", "a column"
    if isinstance(spec.value, str) and name == "state" and spec.value not in STATES:
        yield "value", f"{spec.value!r} is no state", ", ".join(STATES)
    if spec.words is not None and (name != "state" or spec.column is None):
        yield "words", "only a column of states has words", "the key state, with a column"


def _wrong_unit(name: str, spec: ColumnSpec) -> _Wrong:
    is_format = spec.unit is not None and "%" in spec.unit
    if spec.unit is not None:
        units = _units_of(name, spec)
        is_known = FORMAT in units and _is_format(spec.unit) if is_format else spec.unit in units
        if not is_known:
            allowed = ", ".join(units) or "no unit: its values have none"
            yield "unit", f"{spec.unit!r} is no unit of it", allowed
    if spec.time_zone is not None and not (is_format or spec.unit == ISO):
        yield "time_zone", "there is nothing that it changes", "a unit of iso or a format with %"


def _units_of(name: str, spec: ColumnSpec) -> tuple[str, ...]:
    """The units that it can have."""
    if name == "submit_s" or spec.begin is not None:
        return (*TIME_UNITS, *EPOCH_UNITS, ISO, FORMAT)
    if spec.value is not None:
        return ()
    unit = JOB_COLUMNS[name].unit
    return tuple(TIME_UNITS) if unit == "s" else tuple(SIZE_UNITS) if unit == "bytes" else ()


def _is_format(text: str) -> bool:
    """Whether ``text`` is a format of times that pandas knows."""
    try:
        pd.to_datetime(pd.Series(["2000"]), format=text, errors="coerce")
    except (ValueError, re.error):
        return False
    return True


def _problems_of_names(spec: MappingSpec) -> Iterator[BadInputError]:
    names = spec.names or []
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        yield BadInputError(f"{twice!r} stands twice", allowed="each name once", key="names")
    for name, column in spec.columns.items():
        for wanted in column.read_columns:
            if wanted not in names:
                yield BadInputError(
                    f"{wanted!r} is no column", allowed=", ".join(names), key=f"columns.{name}"
                )
