"""The file that storage servers read: made once, of real bytes, and shared by all jobs."""

from __future__ import annotations

import io
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from emulator.training.cpu_work import require_pillow
from traces.errors import EmulationError

_CHUNK_BYTES = 2**20
_IMAGES = 8  # different ones; they repeat, for making them takes long
_JPEG_QUALITY = 90
_SIDES = (2048, 1024, 512, 256, 128, 64, 32, 16, 8)


def make_dataset(path: Path, size_bytes: int, seed: int) -> None:
    """Pseudo-random bytes. The same seed and size give the same file.

    Raises EmulationError where the file cannot be written, or the disk has too little room.
    """
    source = random.Random(seed)  # noqa: S311 - filler, no secret
    _write(path, size_bytes, iter(lambda: source.randbytes(_CHUNK_BYTES), b""))


def make_jpeg_dataset(path: Path, size_bytes: int, item_bytes: int, seed: int) -> None:
    """Real JPEGs of noise, each at the start of a slot of ``item_bytes``, zeros behind it.

    ValueError where not even the smallest image fits a slot; errors as in ``make_dataset``.
    """
    images = [_image(item_bytes, seed + place) for place in range(_IMAGES)]
    _write(path, size_bytes, _repeated(images))


def _image(item_bytes: int, seed: int) -> bytes:
    """The largest square image of noise that fits."""
    library = require_pillow()
    source = random.Random(seed)  # noqa: S311 - filler, no secret
    for side in _SIDES:
        noise = library.frombytes("RGB", (side, side), source.randbytes(3 * side * side))
        encoded = io.BytesIO()
        noise.save(encoded, "JPEG", quality=_JPEG_QUALITY)
        if encoded.tell() <= item_bytes:
            return encoded.getvalue().ljust(item_bytes, b"\0")
    raise ValueError(f"an item of {item_bytes} bytes has no room for a JPEG")


def _repeated(images: list[bytes]) -> Iterator[bytes]:
    while True:
        yield from images


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
