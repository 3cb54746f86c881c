"""Reads the JSON documents of a run directory. Keys that a document does not name are ignored."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from traces.errors import BadInputError
from traces.run_directory import read_json

Read = TypeVar("Read")


class Document(BaseModel):
    """What all documents have in common."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Machine(Document):
    """The computer that a result was made on."""

    kernel: str | None = None
    architecture: str | None = None
    cpu: str | None = None
    cores: int | None = None
    memory_bytes: int | None = None


class Provenance(Document):
    """provenance.json, as far as runs of every kind have it."""

    finished_utc: str
    run_id: str | None
    seed: int
    scenario_sha256: str
    versions: dict[str, str | None]
    machine: Machine


def read_document(file: Path, kind: type[Read]) -> Read:
    """Read ``file`` as a ``kind``. Raises BadInputError that names the key."""
    try:
        return TypeAdapter(kind).validate_python(read_json(file))
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInputError(
            first["msg"],
            allowed="a file that Roundelay wrote",
            file=file,
            key=".".join(str(part) for part in first["loc"]) or None,
        ) from None


def read_scenario_text(directory: Path) -> str:
    """scenario.yaml of a run directory, as it is. Raises BadInputError."""
    file = directory / "scenario.yaml"
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"cannot be read: {error}",
            allowed="the scenario that the run was made from",
            file=file,
        ) from None
