"""Items read through the MinIO cache."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from profiler.loading.minio_cache import SharedMinioCache
from profiler.loading.read_item import read_item
from profiler.loading.stored_items import StoredItems

_READS_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class CachedItems:
    """Picklable, for loader workers that are spawned."""

    items: StoredItems
    cache: SharedMinioCache

    def read(self, item: int) -> memoryview:
        """The bytes of ``item``: from the cache, or from storage and then into the cache.

        Raises
        ------
        LoadingError: it cannot be read.
        """
        cached = self.cache.load(item)
        if cached is not None:
            return cached
        data = read_item(self.items, item)
        self.cache.store(item, data)
        return memoryview(data)


def fill_cache(
    items: StoredItems,
    cache: SharedMinioCache,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Reads all that ``cache`` is to hold, as after a first epoch. Neither hits nor misses.

    progress: gets the items read so far, and how many there are to read.

    Raises
    ------
    LoadingError: an item cannot be read.
    """
    missing = np.flatnonzero(cache.held & ~cache.filled)
    with ThreadPoolExecutor(_READS_AT_ONCE) as readers:
        # In pieces: a future for each of a million items would cost more than the items.
        for start in range(0, len(missing), 1024):
            piece = [int(item) for item in missing[start : start + 1024]]
            for item, data in zip(
                piece, readers.map(lambda i: read_item(items, i), piece), strict=True
            ):
                cache.fill(item, data)
            progress(start + len(piece), len(missing))
