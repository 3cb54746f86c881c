"""What all scenarios have in common: checked keys, arms that differ in some, errors with lines."""

from __future__ import annotations

import copy
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from traces.errors import BadInputError
from traces.yaml_source import KeyPath, YamlSource, read_yaml

_NAME = r"^[a-z0-9][a-z0-9-]{0,31}$"
Name = Annotated[str, Field(pattern=_NAME)]
_NAME_ALLOWED = "lower-case letters, digits and '-', at most 32, beginning with a letter or digit"


_NUMBER_OR_AUTO = (
    ("scale", "rate_divisor"),
    ("emulation", "stride"),
    ("emulation", "cpu_divisor"),
    ("emulation", "byte_divisor"),
)


class Strict(BaseModel):
    """Refuses keys that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def keys_allowed(cls, given: object) -> tuple[str, ...]:
        """The keys that may stand in ``given``, where one of them decides about the others."""
        return tuple(cls.model_fields)


Spec = TypeVar("Spec", bound=Strict)


@dataclass(frozen=True)
class ScenarioFile(Generic[Spec]):
    """A scenario file whose keys are those of ``spec``, with sections that an arm may change."""

    source: YamlSource
    spec: type[Spec]
    sections: tuple[str, ...]

    @staticmethod
    def read(file: Path) -> YamlSource:
        """Read ``file``; BadInputError where it is not a mapping of keys."""
        source = read_yaml(file)
        if not isinstance(source.data, dict):
            raise BadInputError("is not a scenario", allowed="a mapping of keys", file=file, line=1)
        return source

    @property
    def _data(self) -> dict[str, object]:
        assert isinstance(self.source.data, dict)  # noqa: S101 - read() made sure
        return self.source.data

    def base(self) -> Spec:
        """The file without its arms' changes. Raises BadInputError."""
        return self._validate(self._data, ())

    def arms(self, name: str) -> Iterator[tuple[str, Spec]]:
        """Each arm by name, with its changes; one called ``name`` where the file has none."""
        overrides = typing.cast("dict[str, dict[str, object]]", self._data.get("arms")) or {
            name: {}
        }
        for arm, override in overrides.items():
            merged = copy.deepcopy(self._data)
            merged.pop("arms", None)
            for section in self.sections:
                changes = (override or {}).get(section)
                if isinstance(changes, dict) and changes:
                    base = self._data.get(section)
                    merged[section] = {**(base if isinstance(base, dict) else {}), **changes}
                elif isinstance(changes, list):
                    merged[section] = changes
            yield arm, self._validate(merged, ("arms", arm))

    def locate(self, error: BadInputError, arm: str | None = None) -> BadInputError:
        """``error``, which knows a key, with the file and line of it; in ``arm`` if it is there."""
        path = tuple(int(key) if key.isdigit() else key for key in (error.key or "").split("."))
        arm_path = () if arm is None else ("arms", arm)
        return self._error(arm_path, path, error.problem, error.allowed)

    def error(self, arm: str, path: KeyPath, problem: str, allowed: str) -> BadInputError:
        """An error at ``path``, in ``arm`` where it stands there."""
        return self._error(("arms", arm), path, problem, allowed)

    def _error(self, arm_path: KeyPath, path: KeyPath, problem: str, allowed: str) -> BadInputError:
        where = self._where(arm_path, path)
        is_arm = arm_path and arm_path in self.source.lines
        in_arm = f" in arm {arm_path[-1]!r}" if is_arm and where == path else ""
        return BadInputError(
            problem + in_arm,
            allowed=allowed,
            file=self.source.file,
            line=self.source.line_of(where),
            key=".".join(str(part) for part in where),
        )

    def _where(self, arm_path: KeyPath, path: KeyPath) -> KeyPath:
        """``path`` inside the arm where the arm's changes have it, else in the base of the file."""
        changed_key = (*arm_path, *path[:2])
        return (*arm_path, *path) if arm_path and changed_key in self.source.lines else path

    def _validate(self, data: object, arm_path: KeyPath) -> Spec:
        try:
            return self.spec.model_validate(data)
        except ValidationError as error:
            # A misspelt key is also a missing one; the unknown key is the one to show.
            first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
            path = _keys_of(first["loc"], data, missing=first["type"] == "missing")
            problem, allowed = _explain(self.spec, data, dict(first), path)
            raise self._error(arm_path, path, problem, allowed) from None


def _keys_of(location: tuple[str | int, ...], data: object, *, missing: bool) -> KeyPath:
    """The keys in pydantic's ``location``, which also names the branches of unions.

    missing: whether the last of them is a key that ``data`` should have had.
    """
    keys: list[str | int] = []
    for depth, part in enumerate(location, 1):
        within = data if isinstance(data, dict) else {}
        if isinstance(data, list):
            within = dict(enumerate(data))
        if part in within or (missing and depth == len(location)):
            data = within.get(part)
            keys.append(part)
    return tuple(keys)


def _keys_allowed_at(spec: type[Strict], data: object, path: KeyPath) -> str:
    model = spec
    for part in path[:-1]:
        if isinstance(part, str) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation) or model
        if isinstance(data, dict | list):
            data = data[part]  # type: ignore[index]  # the path is one in the data
    return ", ".join(model.keys_allowed(data))


def _model_in(annotation: object) -> type[Strict] | None:
    """The model that ``annotation`` is, or holds."""
    if isinstance(annotation, type) and issubclass(annotation, Strict):
        return annotation
    found = (_model_in(part) for part in typing.get_args(annotation))
    return next((model for model in found if model is not None), None)


def _explain(
    spec: type[Strict], data: object, error: dict[str, object], path: KeyPath
) -> tuple[str, str]:
    """(problem, allowed) in plain words of one pydantic error."""
    kind, message = str(error["type"]), str(error["msg"])
    given = error.get("input")
    context = error.get("ctx") or {}
    if kind == "extra_forbidden":
        return "unknown key", _keys_allowed_at(spec, data, path)
    if kind == "missing":
        return "the key is missing", _keys_allowed_at(spec, data, path)
    if kind == "value_error" and "|" in message:
        problem, allowed = message.removeprefix("Value error, ").rsplit("|", 1)
        return problem, allowed
    if kind == "string_pattern_mismatch":
        return f"{given!r} is not a name", _NAME_ALLOWED
    if path[-2:] in _NUMBER_OR_AUTO:
        return f"{given!r} is not allowed here", "'auto', or a number of at least 1"
    if kind in ("enum", "literal_error") and isinstance(context, dict):
        return f"{given!r} is not known", str(context["expected"])
    shown = f"{given!r}" if isinstance(given, str | int | float | bool) else "the value"
    return f"{shown} is not allowed here", re.sub(r"^Input should", "the value should", message)
