"""The file that storage servers read: made once, of real bytes, and shared by all jobs."""

from __future__ import annotations

import io
import itertools
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from emulator.training.cpu_work import require_pillow
from traces.errors import EmulationError

_CHUNK_BYTES = 2**20
_IMAGES = 64  # different ones; they repeat, for making them takes long
_JPEG_QUALITY = 75
_SIDE_PIXELS = 64
_MOST_JPEG_BYTES = 4096  # noise compresses badly, and always about as badly

LEAST_JPEG_ITEM_BYTES = 2 * _MOST_JPEG_BYTES
"""Of an item, so that one image at least lies in it whole, wherever it was cut."""


def make_dataset(path: Path, size_bytes: int, seed: int) -> None:
    """Pseudo-random bytes. The same seed and size give the same file.

    Raises EmulationError where the file cannot be written, or the disk has too little room.
    """
    source = random.Random(seed)  # noqa: S311 - filler, no secret
    _write(path, size_bytes, iter(lambda: source.randbytes(_CHUNK_BYTES), b""))


def make_jpeg_dataset(path: Path, size_bytes: int, seed: int) -> None:
    """Real JPEGs of noise, one behind the other, so that items of any size are made of them.

    Errors as in ``make_dataset``; MissingCapabilityError where Pillow is not installed.
    """
    source = random.Random(seed)  # noqa: S311 - filler, no secret
    images = [_image(source) for _ in range(_IMAGES)]
    _write(path, size_bytes, itertools.cycle(images))


def _image(source: random.Random) -> bytes:
    library = require_pillow()
    size = (_SIDE_PIXELS, _SIDE_PIXELS)
    noise = library.frombytes("RGB", size, source.randbytes(3 * _SIDE_PIXELS**2))
    encoded = io.BytesIO()
    noise.save(encoded, "JPEG", quality=_JPEG_QUALITY)
    return encoded.getvalue()


def _write(path: Path, size_bytes: int, chunks: Iterator[bytes]) -> None:
    """Complete or not at all."""
    try:
        free_bytes = shutil.disk_usage(path.parent).free
        if free_bytes < size_bytes:
            raise EmulationError(
                f"a dataset of {size_bytes} bytes does not fit {path.parent}, which has "
                f"{free_bytes} bytes left"
            )
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                left = size_bytes
                while left > 0:
                    left -= file.write(next(chunks)[:left])
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise EmulationError(f"the dataset {path} cannot be written: {error.strerror}") from None
