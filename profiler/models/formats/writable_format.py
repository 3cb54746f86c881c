"""A format that items can be made in."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from profiler.loading.sample_format import SampleFormat


class WritableFormat(SampleFormat, Protocol):
    """A sample's format, and items in it that nobody recorded."""

    @property
    def classes(self) -> int:
        """Labels are 0 to ``classes`` - 1."""

    @property
    def file_suffix(self) -> str:
        """Of the files that hold the items, with the dot."""

    @property
    def item_bytes(self) -> int | None:
        """The size of every item; None where they differ, and each is a file of its own."""

    def made_item(self, label: int, random: np.random.Generator) -> bytes:
        """An item like a recorded one in size and in what it takes to decode."""
