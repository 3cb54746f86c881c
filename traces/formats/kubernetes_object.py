"""Objects of Kubernetes as plain data, taken apart with errors that say where they are wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from traces.errors import BadInputError, shown
from traces.formats.json_array import beginning_of
from traces.formats.json_stream import stream_members
from traces.trace_format import head_of
from traces.yaml_source import read_yaml

LIST = "a List of objects with items, as kubectl get -o json prints it"
MOST = 1e9  # of what is counted: pods, restarts; more is a mistake

_QUANTITY = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII
)
_FACTORS = {"": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3}
_FACTORS |= {prefix: 1000.0**power for power, prefix in enumerate("MGTPE", 2)}
_FACTORS |= {f"{prefix}i": 1024.0**power for power, prefix in enumerate("KMGTPE", 1)}


def quantity(text: str) -> float:
    """``500m`` -> 0.5, ``64Gi`` -> 2^36, ``1e3`` -> 1000; NaN where it is none.

    As apimachinery's ``resource.Quantity`` writes and reads them.
    """
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return math.nan
    number, exponent, suffix = found.groups()
    return float(f"{number}e{exponent}") if exponent else float(number) * _FACTORS[suffix or ""]


class Part(NamedTuple):
    """A part of an object. line: where the object begins. key: the way to the part in the file.

    All methods raise BadInputError where something is not of the type that Kubernetes gives it.
    """

    value: object
    file: Path
    line: int | None
    key: str

    def at(self, key: str) -> Part:
        """What stands under ``key``, None if nothing does. This part is a mapping, or nothing."""
        if not isinstance(self.value, dict | None):
            raise self.refusal("a mapping")
        value = None if self.value is None else self.value.get(key)
        return Part(value, self.file, self.line, f"{self.key}.{key}")

    def names(self) -> list[str]:
        """The keys of this part, a mapping, or nothing."""
        if not isinstance(self.value, dict | None):
            raise self.refusal("a mapping")
        return [] if self.value is None else list(self.value)

    def parts(self) -> list[Part]:
        """Those of this part, a list, or nothing."""
        if not isinstance(self.value, list | None):
            raise self.refusal("a list")
        return [
            Part(value, self.file, self.line, f"{self.key}[{place}]")
            for place, value in enumerate(self.value or ())
        ]

    def text(self) -> str | None:
        """This part, None if there is none or it is empty."""
        if not isinstance(self.value, str | None):
            raise self.refusal("a text")
        try:
            (self.value or "").encode()
        except UnicodeEncodeError:
            raise self.refusal("a text in Unicode") from None
        return self.value or None

    def number(self, default: int) -> int:
        """This part, ``default`` if there is none."""
        if self.value is None:
            return default
        is_truth = isinstance(self.value, bool)
        if isinstance(self.value, int) and not is_truth and 0 <= self.value <= MOST:
            return self.value
        raise self.refusal(f"a whole number from 0 to {MOST:.0f}")

    def amount(self) -> float | None:
        """This part, a quantity, None if there is none."""
        if self.value is None:
            return None
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        text = str(self.value) if is_number else self.text() or ""
        found = quantity(text)
        if not 0 <= found < math.inf:
            raise self.refusal("a quantity of 0 or more, such as 500m or 64Gi")
        return found

    def instant_s(self) -> float:
        """This part, a time, in seconds from 1970 in UTC; NaN if there is none."""
        if self.value is None:
            return math.nan
        instant = self.value if isinstance(self.value, datetime) else _instant(self.text() or "")
        in_utc = None if instant is None or instant.tzinfo is None else _in_utc(instant)
        if in_utc is None:
            raise self.refusal("a time such as 2024-01-31T12:00:00Z")
        return in_utc.timestamp()

    def refusal(self, allowed: str) -> BadInputError:
        """This part is something else than ``allowed``."""
        return BadInputError(
            f"the value is {shown(self.value)}",
            allowed=allowed,
            file=self.file,
            line=self.line,
            key=self.key,
        )


def _instant(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _in_utc(instant: datetime) -> datetime | None:
    """None where the year in UTC is not from 1 to 9999."""
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        return None


def objects_of(file: Path) -> Iterator[Part]:
    """The objects that the List in ``file`` has, JSON or YAML. Raises BadInputError."""
    for place, (value, line) in enumerate(
        _json_items(file) if _is_json(file) else _yaml_items(file)
    ):
        item = Part(value, file, line, f"items[{place}]")
        if not isinstance(value, dict):
            raise item.refusal("an object")
        yield item


def _is_json(file: Path) -> bool:
    try:
        return beginning_of(head_of(file).data).startswith("{")
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed=LIST, file=file) from None


def _json_items(file: Path) -> Iterator[tuple[object, int]]:
    for member in stream_members(file, ("items",)):
        if member.key is not None:
            raise BadInputError(
                "is no list", allowed=LIST, file=file, line=member.line, key="items"
            )
        yield member.value, member.line


def _yaml_items(file: Path) -> Iterator[tuple[object, int | None]]:
    source = read_yaml(file)
    items = source.data.get("items") if isinstance(source.data, dict) else None
    if not isinstance(items, list):
        raise BadInputError("there is no list of items", allowed=LIST, file=file)
    for place, value in enumerate(items):
        yield value, source.line_of(("items", place))
