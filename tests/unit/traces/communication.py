"""What the tests of importers of communication traces share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from traces.communication_trace import CommunicationImport, IterationRecord
from traces.errors import BadInputError

REAL_DATA = Path(__file__).parents[4] / "shared" / "data"


def real_files(*parts: str) -> list[Path]:
    """The published file or the files of the published folder; without them the test skips."""
    place = REAL_DATA.joinpath(*parts)
    if not place.exists():
        pytest.skip(f"the real traces {place} are not here")
    return sorted(place.iterdir()) if place.is_dir() else [place]


def sizes(imported: CommunicationImport) -> list[float]:
    return [transfer.bytes for transfer in imported.profile.demand.transfers]


def noted(imported: CommunicationImport, *words: str) -> bool:
    return any(all(word in note for word in words) for note in imported.notes)


def counts(iteration: IterationRecord) -> dict[tuple[str, int], tuple[int, float]]:
    """By name and group size: how many collectives, and the bytes of their buffers."""
    found: dict[tuple[str, int], tuple[int, float]] = {}
    for one in iteration.collectives:
        count, size_bytes = found.get((one.name, one.group_size), (0, 0.0))
        found[one.name, one.group_size] = (count + 1, size_bytes + one.bytes)
    return found


def check_read_or_refused(
    read: Callable[[Path], CommunicationImport], file: Path, data: bytes
) -> None:
    """A ``file`` that holds ``data`` is read into a demand, or refused by its name."""
    file.write_bytes(data)
    try:
        imported = read(file)
    except BadInputError as error:
        refused, allowed = error.file, error.allowed
    else:
        assert imported.profile.demand.transfers
        return
    assert refused == file
    assert allowed
