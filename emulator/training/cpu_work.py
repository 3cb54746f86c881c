"""The work of preparing an item: real CPU time over its real bytes, in pieces that end soon.

Both kinds release the interpreter's lock, so that threads work side by side.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from hashlib import blake2b
from types import ModuleType

from emulator.training.specification import Work
from traces.errors import MissingCapabilityError

_PIECE_BYTES = 2**16  # some 70 us
_UNLOCKED_BYTES = 2**12
"""hashlib releases the interpreter's lock for pieces of 2 KiB and more."""

# Markers; within an image no such bytes follow each other. (ITU-T T.81, annex B)
_JPEG_STARTS = b"\xff\xd8\xff"
_JPEG_ENDS = b"\xff\xd9"

FILLER = bytearray(_PIECE_BYTES)
"""What is worked on where nothing is read."""


def work_of(kind: Work) -> Callable[[bytearray], None]:
    """A function that does one piece of work over an item, for one thread.

    Raises MissingCapabilityError where the kind takes what is not installed.
    """
    return _JpegDecoding() if kind == "jpeg" else _Hashing()


class _Hashing:
    """Hashes an item over and over, a piece a call."""

    def __init__(self) -> None:
        self._offset = 0

    def __call__(self, data: bytearray) -> None:
        if self._offset >= len(data):
            self._offset = 0
        piece = memoryview(data)[self._offset : self._offset + _PIECE_BYTES]
        self._offset += _PIECE_BYTES
        if len(piece) < _UNLOCKED_BYTES:
            piece = memoryview(bytes(piece) * (_UNLOCKED_BYTES // len(piece)))
        blake2b(piece)


class _JpegDecoding:
    """Decodes the images that lie whole in an item over and over, one a call."""

    def __init__(self) -> None:
        self._image = require_pillow()
        self._offset = 0

    def __call__(self, data: bytearray) -> None:
        """ValueError where there is no image in ``data``."""
        found = self._next(data) or self._next(data, from_start=True)
        if found is None:
            raise ValueError(f"no JPEG lies whole in an item of {len(data)} bytes")
        with self._image.open(io.BytesIO(found)) as image:
            image.load()

    def _next(self, data: bytearray, *, from_start: bool = False) -> bytearray | None:
        start = data.find(_JPEG_STARTS, 0 if from_start else self._offset)
        end = data.find(_JPEG_ENDS, start)
        if start < 0 or end < 0:
            return None
        self._offset = end + len(_JPEG_ENDS)
        return data[start : self._offset]


def require_pillow() -> ModuleType:
    """Pillow's ``Image`` module; MissingCapabilityError where it is not installed."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingCapabilityError(
            "decoding real JPEGs takes Pillow, which is not installed",
            remedy="pip install 'roundelay[real]', or take the work 'hash'",
        ) from None
    return Image
