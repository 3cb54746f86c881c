"""Clicks: numbers about a person and a page, rows of tables to look up, and whether they clicked.

torch is imported where a tensor is made: names and made files do without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

_NUMBER = np.dtype("<f4")
_ROW = np.dtype("<i4")


@dataclass(frozen=True)
class ClickFormat:
    """Samples: numbers (numbers,) float32; rows (tables, lookups) int64; clicked () float32.

    Items are the numbers and then the rows, 4 bytes each.
    rows: of each table.
    """

    numbers: int
    tables: int
    lookups: int
    rows: int

    classes = 2
    file_suffix = ".clicks"
    dali = None

    @property
    def item_bytes(self) -> int:
        return self.numbers * _NUMBER.itemsize + self.tables * self.lookups * _ROW.itemsize

    def decode(
        self, data: bytes | memoryview, label: int, random: np.random.Generator
    ) -> tuple[torch.Tensor, ...]:
        import torch

        numbers = np.frombuffer(data, dtype=_NUMBER, count=self.numbers)
        rows = np.frombuffer(data, dtype=_ROW, offset=numbers.nbytes)
        return (
            torch.from_numpy(numbers.astype(np.float32)),
            torch.from_numpy(rows.astype(np.int64).reshape(self.tables, self.lookups)),
            torch.tensor(float(label)),
        )

    def made_item(self, label: int, random: np.random.Generator) -> bytes:
        numbers = random.standard_normal(self.numbers).astype(_NUMBER)
        rows = random.integers(self.rows, size=self.tables * self.lookups).astype(_ROW)
        return numbers.tobytes() + rows.tobytes()
