"""A cache without eviction: what is in stays in, so that every epoch has the same hits. Pure.

(MinIO of CoorDL; Mohan et al., VLDB 2021. Synergy, OSDI 2022, allocates its memory.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Sample:
    """One item of the dataset, as it lies in storage. data: None until all of it has arrived."""

    item: int
    data: bytearray | None = None


def capacity_items(cache_bytes: int, item_bytes: int) -> int:
    """How many whole items a cache of ``cache_bytes`` holds."""
    return cache_bytes // item_bytes


class MinioCache:
    """Holds the first ``capacity`` items that come, and those of ``index`` before all others.

    index: items that have a place, in the order in which they got it. After a restart the places
    are kept, and their items come in when they are first fetched.
    """

    def __init__(self, capacity: int, index: Sequence[int] = ()) -> None:
        self._capacity = capacity
        self._held: dict[int, Sample] = {}
        self.index = list(index[:capacity])
        self._placed = set(self.index)
        if len(self._placed) != len(self.index):
            raise ValueError("an item has two places in the cache's index")

    def find(self, item: int) -> Sample | None:
        """The item, which may be still on its way, or None for a miss."""
        return self._held.get(item)

    def admit(self, sample: Sample) -> None:
        """Keep a missed item if it has a place or there is one left."""
        if sample.item not in self._placed:
            if len(self.index) >= self._capacity:
                return
            self.index.append(sample.item)
            self._placed.add(sample.item)
        self._held[sample.item] = sample

    def resize(self, capacity: int) -> None:
        """Make room for more, or let go of the items that came last."""
        self._capacity = capacity
        for item in self.index[capacity:]:
            self._placed.remove(item)
            self._held.pop(item, None)
        del self.index[capacity:]
