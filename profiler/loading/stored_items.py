"""Where the items of a dataset lie, whatever they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class StoredItems:
    """Item i is ``length_bytes[i]`` bytes from ``offset_bytes[i]`` on in ``paths[file_of[i]]``.

    file_of: int32[n]; offset_bytes, length_bytes, labels: int64[n]. A file may hold many items.
    skipped: what was found beside them and left out, by reason.
    Picklable, for loader workers that are spawned.
    """

    paths: tuple[str, ...]
    file_of: NDArray[np.int32]
    offset_bytes: NDArray[np.int64]
    length_bytes: NDArray[np.int64]
    labels: NDArray[np.int64]
    skipped: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column in (self.offset_bytes, self.length_bytes, self.labels):
            if column.shape != self.file_of.shape:
                raise ValueError("each item needs a file, an offset, a length and a label")

    def __len__(self) -> int:
        return len(self.file_of)

    @property
    def total_bytes(self) -> int:
        return int(self.length_bytes.sum())
