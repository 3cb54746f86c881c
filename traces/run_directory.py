"""A run's directory: tables as Parquet, documents as JSON, all owned by the user who called."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from traces.caller import calling_user
from traces.errors import BadInputError
from traces.results import IterationRow, JobRow, LinkRow

TABLES: dict[str, type] = {"iterations": IterationRow, "jobs": JobRow, "links": LinkRow}

_DTYPES = {
    "str": "string",
    "str | None": "string",
    "int": "int64",
    "int | None": "Int64",
    "float": "float64",
    "bool": "bool",
}


def prepare_directory(directory: Path) -> Path:
    """Make ``directory``; it must be new or empty, so that no result is ever overwritten.

    Returns the topmost directory that was made on the way, or ``directory`` where it was there.
    """
    try:
        absent = [path for path in (directory, *directory.parents) if not path.exists()]
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise BadInputError(
                "the directory is not empty", allowed="a new or empty directory", file=directory
            )
    except OSError as error:
        raise BadInputError(
            f"the directory cannot be made: {error.strerror}",
            allowed="a writable place",
            file=directory,
        ) from None
    return absent[-1] if absent else directory


def table(rows: Sequence[Any], kind: type) -> pd.DataFrame:
    """``rows`` as a DataFrame whose columns and types are those of ``kind``, also when empty."""
    fields = dataclasses.fields(kind)
    return pd.DataFrame(
        {
            field.name: pd.Series(
                [getattr(row, field.name) for row in rows], dtype=_DTYPES[str(field.type)]
            )
            for field in fields
        }
    )


def write_table(directory: Path, name: str, rows: Sequence[Any]) -> None:
    """Write one of TABLES."""
    table(rows, TABLES[name]).to_parquet(directory / f"{name}.parquet", index=False)


def read_table(directory: Path, name: str) -> pd.DataFrame:
    """Read one of TABLES. BadInputError where it is absent, damaged or has other columns."""
    file = directory / f"{name}.parquet"
    allowed = "a run directory that 'roundelay simulate' or 'roundelay emulate' wrote"
    if not file.is_file():
        raise BadInputError(f"there is no {file.name}", allowed=allowed, file=directory)
    try:
        frame = pd.read_parquet(file)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BadInputError(f"cannot be read: {reason}", allowed=allowed, file=file) from None
    missing = [f.name for f in dataclasses.fields(TABLES[name]) if f.name not in frame.columns]
    if missing:
        raise BadInputError(f"lacks the column {missing[0]!r}", allowed=allowed, file=file)
    return frame


def write_json(file: Path, document: object) -> None:
    """Write ``document`` as indented JSON; not-a-number is refused, for no reader accepts it."""
    file.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def read_json(file: Path) -> Any:
    """Read a JSON document of a run directory."""
    allowed = "a file that Roundelay wrote"
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(
            f"cannot be read: {error.strerror}", allowed=allowed, file=file
        ) from None
    except ValueError as error:
        raise BadInputError(f"is not JSON: {error}", allowed=allowed, file=file) from None


def give_to_caller(path: Path) -> None:
    """Under sudo, make ``path`` and all below it belong to the user who called."""
    user = calling_user(os.environ)
    if os.geteuid() != 0 or user is None:
        return
    for each in (path, *path.rglob("*")):
        os.chown(each, *user, follow_symlinks=False)
