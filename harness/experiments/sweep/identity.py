"""What the results of a scenario depend on, as one hash: its data, and the files that it names."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.experiments.sweep.points import canonical

_DIRECTORY = "measured_profiles"


def version() -> str:
    """Of this program: another one may give other results."""
    return importlib.metadata.version("roundelay")


class Identities:
    """Hashes of scenarios that lie in ``directory``. Each file that they name is read once."""

    def __init__(self, directory: Path, *, emulated: bool) -> None:
        self._directory = directory
        self._kind = "emulated" if emulated else "simulated"
        self._digest = functools.cache(_digest)
        self._version = version()

    def of(self, data: Mapping[str, object]) -> str:
        """SHA-256 as 64 hexadecimal digits. The description is no part of it."""
        content = {key: value for key, value in data.items() if key != "description"}
        named = {
            name: self._digest(self._directory / name)
            for key, name in _texts(content)
            if self._is_read(key, name)
        }
        whole = [self._version, self._kind, content, named]
        return hashlib.sha256(canonical(whole).encode()).hexdigest()

    def _is_read(self, key: str, name: str) -> bool:
        """Whether ``name`` may be that of an input: of any file that is there."""
        try:
            path = self._directory / name
            return path.is_file() or (key == _DIRECTORY and path.is_dir())
        except (OSError, ValueError):  # such as a name that is too long
            return False


def _texts(data: object, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, value) of all texts in ``data``."""
    if isinstance(data, str):
        yield key, data
    elif isinstance(data, Mapping):
        for name, value in data.items():
            yield from _texts(value, str(name))
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value, key)


def _digest(path: Path) -> str:
    """Of a file's content, or of all profiles in a directory."""
    if path.is_file():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    profiles = [(file.name, _digest(file)) for file in sorted(path.glob("*.json"))]
    return hashlib.sha256(canonical(profiles).encode()).hexdigest()
