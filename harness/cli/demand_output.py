"""The files that verbs of demands write."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from traces.errors import BadInputError
from traces.model_profile import ModelProfile, write_profile
from traces.run_directory import give_to_caller


def write_demand(profile: ModelProfile, source: Path, output: Path | None) -> Path:
    """Write ``profile``, made of ``source``, to ``output`` or a file named after it; return which.

    Raises BadInputError where it cannot be written.
    """
    file = output or Path(f"{source.name.partition('.')[0]}.demand.json")
    write_output(partial(write_profile, profile), file)
    return file


def write_output(write: Callable[[Path], None], file: Path) -> None:
    """``write`` into ``file``, which belongs to the caller then. Raises BadInputError."""
    try:
        write(file)
    except OSError as error:
        raise BadInputError(
            f"cannot be written: {error.strerror}", allowed="a writable place", file=file
        ) from None
    give_to_caller(file)
