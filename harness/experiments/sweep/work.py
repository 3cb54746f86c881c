"""A point of a sweep, and what became of it. Plain data that goes between processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from harness.experiments.sweep.points import Kind, Value
from traces.yaml_source import YamlSource

Stop = Callable[[], bool]
"""Whether a person wants the sweep to end."""


@dataclass(frozen=True)
class Point:
    """One combination of values with one seed: what is run at once, and kept in one file.

    id: the same wherever and whenever the same would come out. data: of its scenario, which lies at
    ``file``. kinds: of the columns of ``values``.
    """

    id: str
    values: Mapping[str, Value]
    kinds: Mapping[str, Kind]
    seed: int
    file: Path
    data: Mapping[str, object]
    emulated: bool

    @property
    def source(self) -> YamlSource:
        """Its scenario, as if it had been read from the file."""
        data = dict(self.data)
        return YamlSource(self.file, yaml.safe_dump(data, sort_keys=False), data)


@dataclass(frozen=True)
class Failure:
    """Why a point has no rows. reason: one line. text: all that is known, such as a traceback."""

    reason: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """What became of a point. table: a Parquet file's content.

    Neither a table nor a failure: it was stopped before it was done.
    """

    point: Point
    table: bytes | None = None
    failure: Failure | None = None


Attempt = Callable[[Point], Outcome]


def never() -> bool:
    """A Stop of which nothing comes."""
    return False
