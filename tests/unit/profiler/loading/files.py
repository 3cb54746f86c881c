"""Small files to load."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from profiler.loading.stored_items import StoredItems


def write_image(path: Path, seed: int = 0, pixels: int = 8) -> bytes:
    """An image of noise, in the format that the suffix names; its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(seed).integers(0, 256, (pixels, pixels, 3), np.uint8)
    Image.fromarray(noise).save(path)
    return path.read_bytes()


def one_file(path: Path, lengths: list[int], seed: int = 0) -> tuple[StoredItems, list[bytes]]:
    """Items one after the other in one file, and their bytes."""
    data = np.random.default_rng(seed).bytes(sum(lengths))
    path.write_bytes(data)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    count = len(lengths)
    items = StoredItems(
        paths=(str(path),),
        file_of=np.zeros(count, np.int32),
        offset_bytes=starts.astype(np.int64),
        length_bytes=np.array(lengths, np.int64),
        labels=np.arange(count, dtype=np.int64),
    )
    return items, [data[start:end] for start, end in zip(starts, ends, strict=True)]
