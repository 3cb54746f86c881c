"""The MinIO cache: which items it holds is fixed beforehand, and none is ever evicted.

After Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training" (VLDB'21), section 4.1.
A cache that evicts thrashes where every epoch reads all items in another order; here every epoch
after the first hits exactly the items that are held, whatever the order and the number of workers.
"""

from __future__ import annotations

import mmap
import os
import weakref
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from profiler.limits.usable import usable_memory_bytes
from traces.errors import BadInputError


class ItemState(IntEnum):
    LEFT_OUT = 0  # outside the budget
    EMPTY = 1
    FILLED = 2


@dataclass(frozen=True)
class CacheCounts:
    """Of all processes since the cache was made. fetched_bytes: those of the misses."""

    hits: int = 0
    misses: int = 0
    fetched_bytes: int = 0

    def since(self, earlier: CacheCounts) -> CacheCounts:
        return CacheCounts(
            self.hits - earlier.hits,
            self.misses - earlier.misses,
            self.fetched_bytes - earlier.fetched_bytes,
        )


class SharedMinioCache:
    """A cache that the process which made it shares with its loader workers.

    Parameters
    ----------
    length_bytes: int64[n], of each item.
    budget_bytes: of the bytes of the items held, to the byte. The tables beside them (25 bytes for
        each item of the dataset, held or not) come on top.
    seed: of the order in which items are taken until the next one does not fit. That order does
        not depend on the budget: a larger one holds all that a smaller one holds.

    The memory has no name in a file system: workers, forked or spawned, map the file descriptor of
    the process that made it, and the kernel frees it with the last of these processes, however they
    end. It counts as shared memory (shmem) of the control group of the process that made it.

    No locks: one worker at a time has an item, and an item counts as filled only after its bytes
    are there. So a worker that is killed while it copies leaves an item to be filled again.

    Raises
    ------
    BadInputError: there is not as much memory, of the machine or by the limits of a container.
    """

    def __init__(self, length_bytes: NDArray[np.int64], budget_bytes: int, seed: int) -> None:
        self._items = len(length_bytes)
        self._data_bytes = int(length_bytes.sum())
        self._descriptor = os.memfd_create("roundelay-minio-cache")
        self._source = f"/proc/{os.getpid()}/fd/{self._descriptor}"
        self._end = weakref.finalize(self, os.close, self._descriptor)
        os.ftruncate(self._descriptor, self._data_at + self._data_bytes)
        self._map_segment()
        order = np.random.default_rng(seed).permutation(self._items)
        self._length_bytes[:] = length_bytes
        self._place[order] = np.cumsum(length_bytes[order]) - length_bytes[order]
        self.budget_bytes = 0
        self.resize(budget_bytes)

    def __enter__(self) -> SharedMinioCache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()

    def load(self, item: int) -> memoryview | None:
        """The bytes of ``item``, counted as a hit; None where they are not held.

        The view lies in the cache: it must be gone before the cache can give its memory back.
        """
        if self._state[item] != ItemState.FILLED:
            return None
        self._hits[item] += 1
        return self._view(item).toreadonly()

    def store(self, item: int, data: bytes) -> None:
        """Counts a miss, for which ``data`` was fetched, and holds it if it is one of the held."""
        self._misses[item] += 1
        self.fill(item, data)

    def fill(self, item: int, data: bytes) -> None:
        """Holds ``data`` if ``item`` is one of the held, and counts nothing."""
        if self._state[item] == ItemState.EMPTY:
            self._view(item)[:] = data
            self._state[item] = ItemState.FILLED

    def resize(self, budget_bytes: int) -> None:
        """Holds what fits ``budget_bytes``: what was held and still fits stays filled.

        Only while no worker reads.

        Raises
        ------
        BadInputError: there is not as much memory available. Then the cache is as before.
        """
        ends = self._place + self._length_bytes
        fits = ends <= budget_bytes
        held_bytes, before_bytes = int(ends[fits].max(initial=0)), self.held_bytes
        usable_bytes = usable_memory_bytes()
        if held_bytes - before_bytes > usable_bytes:
            raise BadInputError(
                f"a cache of {held_bytes} bytes does not fit the memory that can be taken here",
                allowed=f"up to {before_bytes + usable_bytes} bytes",
            )
        if held_bytes > before_bytes:  # taken now, so that no worker finds it gone later
            os.posix_fallocate(
                self._descriptor, self._data_at + before_bytes, held_bytes - before_bytes
            )
        self._state[~fits] = ItemState.LEFT_OUT
        self._state[fits & (self._state == ItemState.LEFT_OUT)] = ItemState.EMPTY
        if held_bytes < before_bytes:
            end = self._data_at + held_bytes
            free_from = end + -end % mmap.PAGESIZE
            size = len(self._map)
            if free_from < size:
                self._map.madvise(mmap.MADV_REMOVE, free_from, size - free_from)
        self.budget_bytes = budget_bytes

    def counts(self) -> CacheCounts:
        return CacheCounts(
            hits=int(self._hits.sum()),
            misses=int(self._misses.sum()),
            fetched_bytes=int(self._misses @ self._length_bytes),
        )

    @property
    def held(self) -> NDArray[np.bool_]:
        """bool[n]: the items within the budget, filled or not."""
        return np.not_equal(self._state, ItemState.LEFT_OUT)

    @property
    def filled(self) -> NDArray[np.bool_]:
        """bool[n]: the items whose bytes are there."""
        return np.equal(self._state, ItemState.FILLED)

    @property
    def held_bytes(self) -> int:
        return int(self._length_bytes[self.held].sum())

    @property
    def filled_bytes(self) -> int:
        return int(self._length_bytes[self.filled].sum())

    def close(self) -> None:
        """Lets go of the memory: it is free when no worker and no view refers to it any more."""
        if self._end.alive:
            self._end()
            del self._map, self._place, self._length_bytes, self._hits, self._misses, self._state

    def __getstate__(self) -> dict[str, object]:
        return {
            name: self.__dict__[name]
            for name in ("_items", "_data_bytes", "_source", "budget_bytes")
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._descriptor = os.open(self._source, os.O_RDWR | os.O_CLOEXEC)
        self._end = weakref.finalize(self, os.close, self._descriptor)
        self._map_segment()

    def _map_segment(self) -> None:
        """The tables, each a column of n, and then the items, in their order."""
        items = self._items
        segment = mmap.mmap(self._descriptor, self._data_at + self._data_bytes)
        self._map = segment
        self._place = np.frombuffer(segment, np.int64, items)
        self._length_bytes = np.frombuffer(segment, np.int64, items, 8 * items)
        self._hits = np.frombuffer(segment, np.uint32, items, 16 * items)
        self._misses = np.frombuffer(segment, np.uint32, items, 20 * items)
        self._state = np.frombuffer(segment, np.uint8, items, 24 * items)

    @property
    def _data_at(self) -> int:
        return 25 * self._items

    def _view(self, item: int) -> memoryview:
        start = self._data_at + int(self._place[item])
        return memoryview(self._map)[start : start + int(self._length_bytes[item])]
