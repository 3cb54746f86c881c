"""How fast storage gives the items of a dataset, read at random as training reads them."""

from __future__ import annotations

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from profiler.limits.kernel_text import parse_storage_read_bytes
from profiler.limits.rate_interval import rate_of
from profiler.limits.transfers import Transfers, joined, transfers_until
from profiler.loading.read_item import read_item
from profiler.loading.stored_items import StoredItems

_LEAST_STORAGE_SHARE = 0.9


@dataclass(frozen=True)
class StorageSpeed:
    """Of all readers together, with the 95 % interval of the bytes.

    items_read: reads, of ``distinct_items`` items. from_storage_share: bytes that the file system
    fetched from storage, by those that were asked for (pages are whole: somewhat above 1 with small
    items); None where the kernel does not count them.
    """

    bytes_per_s: float
    interval_bytes_per_s: tuple[float, float]
    items_per_s: float
    readers: int
    items_read: int
    distinct_items: int
    from_storage_share: float | None

    @property
    def doubt(self) -> str | None:
        """Why the figures may not be those of storage; None where they are."""
        if self.from_storage_share is None:
            return "this kernel does not tell what came from storage (CONFIG_TASK_IO_ACCOUNTING)"
        if self.from_storage_share < _LEAST_STORAGE_SHARE:
            return (
                f"only {self.from_storage_share:.0%} of the bytes came from storage: the dataset "
                "was written just now (sync), is on a file system in memory or on one that does "
                "not count, or another process keeps its pages"
            )
        return None


def measure_storage(items: StoredItems, readers: int, duration_s: float, seed: int) -> StorageSpeed:
    """Read items of ``items`` for ``duration_s``, each of ``readers`` threads those of its own.

    An item's pages are dropped from the page cache before it is read, as between epochs. Where all
    items have been read, they are read again. LoadingError where one cannot be.
    """
    if not len(items):
        raise ValueError("there are no items to read")
    order = np.random.default_rng(seed).permutation(len(items))
    shares = [order[first::readers] for first in range(min(readers, len(items)))]
    with ThreadPoolExecutor(len(shares)) as pool:
        from_s = time.monotonic()
        until_s = from_s + duration_s
        reading = [pool.submit(_read_until, until_s, items, share) for share in shares]
        done = [each.result() for each in reading]
    transfers = joined([part for part, _ in done])
    fetched = [fetched_bytes for _, fetched_bytes in done if fetched_bytes is not None]
    rate = rate_of(transfers, from_s, until_s)
    asked_bytes = float(transfers.moved_bytes.sum())
    return StorageSpeed(
        rate.bytes_per_s,
        rate.interval_bytes_per_s,
        rate.bytes_per_s * len(transfers.moved_bytes) / asked_bytes,
        len(shares),
        len(transfers.moved_bytes),
        sum(
            min(len(part.moved_bytes), len(share))
            for (part, _), share in zip(done, shares, strict=True)
        ),
        sum(fetched) / asked_bytes if len(fetched) == len(done) else None,
    )


def _read_until(
    deadline_s: float, items: StoredItems, share: NDArray[np.int64]
) -> tuple[Transfers, int | None]:
    """Read the items of ``share`` over and over; with what this thread fetched from storage."""
    turns = itertools.cycle(share.tolist())
    before_bytes = _fetched_bytes()
    transfers = transfers_until(deadline_s, lambda: len(read_item(items, next(turns))))
    after_bytes = _fetched_bytes()
    if before_bytes is None or after_bytes is None:
        return transfers, None
    return transfers, after_bytes - before_bytes


def _fetched_bytes() -> int | None:
    """By the calling thread so far; None where the kernel does not count it."""
    try:
        return parse_storage_read_bytes(Path("/proc/thread-self/io").read_text())
    except FileNotFoundError:
        return None
