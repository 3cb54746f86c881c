"""Where recipes find published traces: below the directory of ``--data``."""

from __future__ import annotations

from pathlib import Path

from traces.errors import BadInputError

PHILLY = Path("philly", "philly.csv")
ORACLE = Path("synergy", "oracle")

CONTENTS = (
    "a directory with synergy/oracle/ (traces and completion times of the published simulator), "
    "philly/philly.csv, muri/cluster_exp/, pollux/ and shockwave/"
)


def data_file(data: Path, inside: Path) -> Path:
    """The file ``inside`` of ``data``. Raises BadInputError that says which one is not there."""
    file = data / inside
    if not file.is_file():
        problem = f"there is no file {file}" if data.is_dir() else f"there is no directory {data}"
        raise BadInputError(problem, allowed=CONTENTS, key="--data")
    return file


def found(data: Path, inside: Path) -> Path | None:
    """The file ``inside`` of ``data``, where it is there."""
    file = data / inside
    return file if file.is_file() else None
