"""What a hit in the MinIO cache costs: copying an item out of shared memory."""

from __future__ import annotations

import mmap
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiler.limits.rate_interval import rate_of
from profiler.limits.transfers import Transfers, joined, transfers_until
from profiler.limits.usable import usable_memory_bytes
from traces.errors import BadInputError

_SEGMENT_BYTES = 512 * 2**20
"""Larger than most processors' caches, so that memory is what is measured."""

_LARGEST_SHARE = 1 / 8
"""Of the memory that can be taken."""

_AT_ONCE_BYTES = 4 * 2**20
"""About a batch. Blocks are copied that many at a time, by one call, so that neither the
interpreter nor its lock is what is measured."""


@dataclass(frozen=True)
class MemorySpeed:
    """Of all threads together, with the 95 % interval; each copies blocks of ``block_bytes`` from
    random places of ``segment_bytes`` of shared memory."""

    bytes_per_s: float
    interval_bytes_per_s: tuple[float, float]
    threads: int
    block_bytes: int
    segment_bytes: int


def measure_memory(threads: int, block_bytes: int, duration_s: float, seed: int) -> MemorySpeed:
    """Copy for ``duration_s`` on the CPUs of the calling process.

    block_bytes: of one item, such as the mean of a dataset's. BadInputError where two of them do
    not fit an eighth of the memory that is available.
    """
    room_bytes = int(usable_memory_bytes() * _LARGEST_SHARE)
    segment_bytes = min(max(_SEGMENT_BYTES, 2 * block_bytes), room_bytes)
    if not 0 < 2 * block_bytes <= segment_bytes:
        raise BadInputError(
            f"memory cannot be measured with items of {block_bytes} bytes",
            allowed=f"1 to {room_bytes // 2} bytes: two have to fit an eighth of free memory",
        )
    # Shared, as the cache is, and without a name: nothing is left of it however this ends.
    segment = np.frombuffer(mmap.mmap(-1, segment_bytes), dtype=np.uint8)
    segment[:: mmap.PAGESIZE] = 1  # otherwise there is no memory behind it yet
    usable = segment_bytes // block_bytes
    blocks = segment[: usable * block_bytes].reshape(usable, block_bytes)
    with ThreadPoolExecutor(threads) as pool:
        from_s = time.monotonic()
        until_s = from_s + duration_s
        copying = [
            pool.submit(_copy_until, until_s, blocks, (seed, thread)) for thread in range(threads)
        ]
        transfers = joined([each.result() for each in copying])
    rate = rate_of(transfers, from_s, until_s)
    return MemorySpeed(
        rate.bytes_per_s, rate.interval_bytes_per_s, threads, block_bytes, segment_bytes
    )


def _copy_until(deadline_s: float, blocks: NDArray[np.uint8], seed: tuple[int, int]) -> Transfers:
    """blocks: uint8[number, size]."""
    random = np.random.default_rng(seed)
    at_once = max(_AT_ONCE_BYTES // blocks.shape[1], 1)
    copies = np.empty((at_once, blocks.shape[1]), dtype=np.uint8)

    def move() -> int:
        chosen = random.integers(len(blocks), size=at_once)
        np.take(blocks, chosen, axis=0, out=copies, mode="clip")  # "raise" would copy twice
        return copies.nbytes

    return transfers_until(deadline_s, move)
