"""What a sweep varies: parsed, multiplied out, and set into the data of a scenario. Pure."""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import yaml

from traces.errors import BadInputError, shown
from traces.yaml_source import KeyPath

Value = str | int | float | bool | None
Kind = Literal["number", "flag", "text"]

OPTION = "--vary"
MOST_POINTS = 100_000

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})\s*([A-Za-zµ][A-Za-zµ/]*)?\s*:\s*(\d+)")
_LIKE_A_RANGE = re.compile(r"[-+]?\d.*\.\.")
_RANGE_ALLOWED = "FIRST..LAST:COUNT with two values or more, such as 0.5..1.0:6 or 10..50 Gbit/s:5"
_NOT_VARIED = {
    "name": "a key that changes what is run",
    "description": "a key that changes what is run",
    "seed": "--seeds",
    "seeds": "--seeds",
}


@dataclass(frozen=True)
class Variation:
    """A key of the scenario and the values that it takes, one after the other."""

    path: KeyPath
    values: tuple[Value, ...]

    @property
    def key(self) -> str:
        """The path as a person writes it, and as the dataset's column is called."""
        return ".".join(map(str, self.path))

    @property
    def kind(self) -> Kind:
        """What the column of its values holds; of mixed values, their text."""
        given = [value for value in self.values if value is not None]
        if all(isinstance(value, bool) for value in given):
            return "flag" if given else "text"
        numbers = (
            isinstance(value, int | float) and not isinstance(value, bool) for value in given
        )
        return "number" if all(numbers) else "text"


def parse_variation(text: str) -> Variation:
    """``KEY=VALUES`` as a Variation. Raises BadInputError.

    VALUES, separated by commas, are scalars as in the scenario's file, or inclusive ranges of
    evenly spaced numbers FIRST..LAST:COUNT, which may have a unit before the colon.
    """
    key, sign, values_text = text.partition("=")
    parts = key.strip().split(".")
    if not sign or not all(parts):
        raise BadInputError(
            f"{shown(text)} is no key with values",
            allowed="such as scheduler.policy=fifo,srtf",
            key=OPTION,
        )
    if parts[0] in _NOT_VARIED:
        raise BadInputError(
            f"{parts[0]!r} is not varied", allowed=_NOT_VARIED[parts[0]], key=f"{OPTION} {key}"
        )
    path = tuple(int(part) if part.isdecimal() else part for part in parts)
    values = [value for part in values_text.split(",") for value in _values(part.strip(), key)]
    if len({canonical(value) for value in values}) < len(values):
        raise BadInputError(
            f"{shown(values_text)} has a value twice",
            allowed="each once",
            key=f"{OPTION} {key}",
        )
    return Variation(path, tuple(values))


def _values(text: str, key: str) -> list[Value]:
    """One value, or those of a range."""
    if _LIKE_A_RANGE.match(text):
        return _range(text, key)
    try:
        value = yaml.safe_load(text) if text else []
    except (yaml.YAMLError, ValueError):
        value = []
    finite = not isinstance(value, float) or math.isfinite(value)
    if not isinstance(value, str | int | float | bool | None) or not finite:
        raise BadInputError(
            f"{shown(text)} is no value",
            allowed="numbers, words, true, false, null, or a range",
            key=f"{OPTION} {key}",
        )
    return [value]


def _range(text: str, key: str) -> list[Value]:
    found = _RANGE.fullmatch(text)
    count = int(found[4]) if found else 0
    if found is None or not 2 <= count <= MOST_POINTS:
        problem = f"{shown(text)} is no range"
        raise BadInputError(problem, allowed=_RANGE_ALLOWED, key=f"{OPTION} {key}")
    # Decimal numbers, for 0.6 is to be the same value wherever it comes from.
    first, last = Decimal(found[1]), Decimal(found[2])
    steps = [first + (last - first) * step / (count - 1) for step in range(count)]
    rounded = [Decimal(f"{step:.12g}") for step in steps]
    whole = all(step == int(step) for step in rounded)
    if found[3]:
        return [f"{step.normalize():f} {found[3]}" for step in rounded]
    return [int(step) if whole else float(step) for step in rounded]


def combinations(variations: Sequence[Variation]) -> list[dict[str, Value]]:
    """All combinations of values by key; the last key changes fastest. Raises BadInputError."""
    keys = [variation.key for variation in variations]
    for key in keys:
        if keys.count(key) > 1:
            raise BadInputError("the key is varied twice", allowed="once", key=f"{OPTION} {key}")
    count = math.prod(len(variation.values) for variation in variations)
    if count > MOST_POINTS:
        raise BadInputError(
            f"that is {count:,} points", allowed=f"at most {MOST_POINTS:,}", key=OPTION
        )
    every = itertools.product(*(variation.values for variation in variations))
    return [dict(zip(keys, values, strict=True)) for values in every]


def with_values(
    data: Mapping[str, object], variations: Sequence[Variation], values: Mapping[str, Value]
) -> dict[str, object]:
    """A copy of a scenario's ``data`` with the varied keys at ``values``.

    A section that is not there is made; whether the scenario knows the key is its reader's to say.
    Raises BadInputError where the way to a key leads through a value, or past the end of a list.
    """
    changed = copy.deepcopy(dict(data))
    for variation in variations:
        *way, last = variation.path
        within: object = changed
        for depth, part in enumerate(way):
            within = _enter(within, part, variation, depth)
        _put(within, last, values[variation.key], variation)
    return changed


def _enter(within: object, part: str | int, variation: Variation, depth: int) -> object:
    """What is at ``part``; a new mapping where there is nothing."""
    if isinstance(within, dict) and within.get(str(part)) is None:
        within[str(part)] = {}
    found = _at(within, part, variation)
    if not isinstance(found, dict | list):
        where = ".".join(map(str, variation.path[: depth + 1]))
        raise BadInputError(
            f"{where!r} is a value, with no keys below it",
            allowed="the path of a key",
            key=f"{OPTION} {variation.key}",
        )
    return found


def _at(within: object, part: str | int, variation: Variation) -> object:
    if isinstance(within, dict):
        return within[str(part)]
    _check_place(within, part, variation)
    return within[part]  # type: ignore[index]  # a list, and a place of it


def _put(within: object, part: str | int, value: Value, variation: Variation) -> None:
    if isinstance(within, dict):
        within[str(part)] = value
        return
    _check_place(within, part, variation)
    within[part] = value  # type: ignore[index]  # a list, and a place of it


def _check_place(within: object, part: str | int, variation: Variation) -> None:
    if isinstance(within, list) and isinstance(part, int) and part < len(within):
        return
    count = len(within) if isinstance(within, list) else 0
    raise BadInputError(
        f"there is no item {part!r} in the list",
        allowed=f"0 to {count - 1}" if count else "none, the list is empty",
        key=f"{OPTION} {variation.key}",
    )


def canonical(data: object) -> str:
    """``data`` as JSON that is the same for the same content: 1.0 is 1, and order is nothing."""
    return json.dumps(_plain(data), sort_keys=True, default=str)


def _plain(data: object) -> object:
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, float) and data.is_integer():
        return int(data)
    return data


def cell(value: Value, kind: Kind) -> Value:
    """``value`` as it stands in a column of ``kind``."""
    if value is None:
        return None
    if kind == "number":
        return float(value)
    return value if kind == "flag" or isinstance(value, str) else json.dumps(value)
