"""Finds the images of a directory, and what in it is none."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from profiler.loading.stored_items import StoredItems
from traces.errors import BadInputError

_FILES_AT_ONCE = 8  # open, while storage answers
_PIECE = 256  # files
_TAIL_BYTES = 64  # a writer may pad the end
_JPEG, _JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
_BMP = b"BM"
_TIFF = (b"II*\0", b"MM\0*")
_WEBP = (b"RIFF", b"WEBP")  # at 0 and at 8


def image_files(
    directory: Path,
    on_broken: Literal["skip", "refuse"],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> StoredItems:
    """Every JPEG, PNG, BMP, TIFF and WebP image below ``directory``, in the order of their paths.

    Its label is the number of the first-level subdirectory, in the order of their names; 0 of one
    that is in none. What is no such image is counted by its reason: empty, not an image, broken,
    unreadable, not a file. Of a JPEG or PNG only the first and the last bytes are read, where
    both are as they should be: that is quick, and finds files cut short but not those with wrong
    bytes in between. Any other image is decoded to see whether it is whole.

    progress: gets the files looked at so far, and how many there are.

    Raises
    ------
    BadInputError: no directory, no image in it, or (``on_broken`` refuse) anything that is none.
    """
    if not directory.is_dir():
        raise BadInputError("no such directory", allowed="a directory of images", file=directory)
    paths, unreadable = _files_below(directory)
    lengths: list[int] = []
    images: list[str] = []
    faults = [(path, "unreadable") for path in unreadable]
    pieces = [paths[start : start + _PIECE] for start in range(0, len(paths), _PIECE)]
    with ThreadPoolExecutor(_FILES_AT_ONCE) as readers:
        for piece, found in zip(pieces, readers.map(_inspect_all, pieces), strict=True):
            for path, length_or_fault in zip(piece, found, strict=True):
                if isinstance(length_or_fault, str):
                    faults.append((path, length_or_fault))
                else:
                    images.append(path)
                    lengths.append(length_or_fault)
            progress(len(images) + len(faults) - len(unreadable), len(paths))
    if faults and on_broken == "refuse":
        path, fault = faults[0]
        raise BadInputError(
            f"{fault}, and {len(faults) - 1} more are no images", allowed="images only", file=path
        )
    if not images:
        raise BadInputError(
            f"no image among {len(paths)} files",
            allowed="JPEG, PNG, BMP, TIFF and WebP",
            file=directory,
        )
    return StoredItems(
        paths=tuple(images),
        file_of=np.arange(len(images), dtype=np.int32),
        offset_bytes=np.zeros(len(images), np.int64),
        length_bytes=np.array(lengths, np.int64),
        labels=_labels(directory, images),
        skipped=dict(Counter(fault for _, fault in faults)),
    )


def _files_below(directory: Path) -> tuple[list[str], list[str]]:
    """All that is no directory, sorted; and the directories that cannot be listed.

    Symbolic links are followed, into each directory once.
    """
    files: list[str] = []
    unreadable: list[str] = []
    seen: set[tuple[int, int]] = set()
    walk = os.walk(
        directory, onerror=lambda error: unreadable.append(error.filename), followlinks=True
    )
    for folder, subfolders, names in walk:
        status = Path(folder).stat()
        if (status.st_dev, status.st_ino) in seen:
            subfolders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        subfolders.sort()
        files.extend(f"{folder}/{name}" for name in names)
    return sorted(files), unreadable


def _labels(directory: Path, images: list[str]) -> NDArray[np.int64]:
    classes = sorted(path.name for path in directory.iterdir() if path.is_dir())
    number_of = {name: number for number, name in enumerate(classes)}
    start = len(f"{directory}/")
    firsts = (path[start:].partition("/")[0] for path in images)
    return np.fromiter((number_of.get(first, 0) for first in firsts), np.int64, len(images))


def _inspect_all(paths: list[str]) -> list[int | str]:
    return [_inspect(path) for path in paths]


def _inspect(path: str) -> int | str:
    """The length of the image in bytes; or why it is none."""
    try:
        # A named pipe would keep a blocking open waiting.
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return "unreadable"
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return "not a file"
        if status.st_size == 0:
            return "empty"
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead of the rest
        head = os.pread(file, 12, 0)
        tail = os.pread(file, _TAIL_BYTES, max(0, status.st_size - _TAIL_BYTES))
    except OSError:
        return "unreadable"
    finally:
        os.close(file)
    if not _begins_as_image(head):
        return "not an image"
    return status.st_size if _is_whole(head, tail) or _decodes(path) else "broken"


def _begins_as_image(head: bytes) -> bool:
    is_webp = head.startswith(_WEBP[0]) and head[8:] == _WEBP[1]
    return is_webp or head.startswith((_JPEG, _PNG, _BMP, *_TIFF))


def _is_whole(head: bytes, tail: bytes) -> bool:
    return (head.startswith(_JPEG) and _JPEG_END in tail) or (
        head.startswith(_PNG) and _PNG_END in tail
    )


def _decodes(path: str) -> bool:
    try:
        with Image.open(path) as image:
            image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False
    return True
