"""Reads the bytes of one item from storage, not from the kernel's page cache."""

from __future__ import annotations

import mmap
import os

from profiler.loading.failure import LoadingError
from profiler.loading.stored_items import StoredItems


def read_item(items: StoredItems, item: int) -> bytes:
    """Exactly the bytes of ``item``.

    What the page cache holds of them is dropped before and after, so that each read costs what
    storage costs, and the MinIO cache is the only one. Pages that are not written back yet cannot
    be dropped, and a file system in memory has no storage below it.

    Raises
    ------
    LoadingError: the file is gone or shorter than it was.
    """
    path = items.paths[items.file_of[item]]
    offset, length = int(items.offset_bytes[item]), int(items.length_bytes[item])
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise LoadingError(f"{path}: {error.strerror}") from error
    try:
        _drop_pages(file, offset, length)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)  # no bytes beyond the item
        data = os.pread(file, length, offset)
        _drop_pages(file, offset, length)
    except OSError as error:
        raise LoadingError(f"{path}: {error.strerror}") from error
    finally:
        os.close(file)
    if len(data) < length:
        raise LoadingError(
            f"{path}: {len(data)} of {length} bytes at {offset}; it was longer before"
        )
    return data


def _drop_pages(file: int, offset: int, length: int) -> None:
    """Of whole pages: posix_fadvise(2) keeps those of which only a part is named."""
    start = offset - offset % mmap.PAGESIZE
    end = offset + length + -(offset + length) % mmap.PAGESIZE
    os.posix_fadvise(file, start, end - start, os.POSIX_FADV_DONTNEED)
