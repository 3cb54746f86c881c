"""How many workers each group of a job has: as files say, and as a person says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from traces.communication_trace import ImportOptions
from traces.errors import BadInputError

MAX_WORKERS = 10_000_000


class GroupSizes:
    """Sizes by the name that a format has for the group; what a person says comes first."""

    def __init__(self, known: Mapping[str, int], options: ImportOptions, file: Path) -> None:
        self._sizes = {**known, **options.group_sizes}
        self._options = options
        self._file = file
        self._asked: set[str] = set()

    def size_of(self, group: str, line: int | None = None) -> int | None:
        """The workers of ``group``; None if that is not known and the option partial is given.

        Raises BadInputError, with ``line``, if it is not known and the option is not given.
        """
        self._asked.add(group)
        size = self._sizes.get(group)
        if size is None and not self._options.partial:
            raise BadInputError(
                f"the size of the group {group!r} is not told",
                allowed=f"--group-size {group}=N, or --partial to leave out what it sends",
                file=self._file,
                line=line,
            )
        return size

    def check_all_used(self) -> None:
        """Raise BadInputError if a person gave the size of a group for which nothing asks."""
        for group in self._options.group_sizes:
            if group not in self._asked:
                raise BadInputError(
                    f"nothing depends on the size of the group {group!r}",
                    allowed=", ".join(sorted(self._asked)) or "no --group-size",
                    file=self._file,
                    key="--group-size",
                )
