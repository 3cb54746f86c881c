"""Real files with made items, for a model that comes without a dataset."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from profiler.loading.stored_items import StoredItems
from profiler.models.formats.writable_format import WritableFormat
from traces.errors import BadInputError

_ITEMS_PER_FILE = 1024  # of those that are records of one size


def make_items(
    sample_format: WritableFormat, directory: Path, count: int, seed: int
) -> StoredItems:
    """``count`` items in ``directory``: a file each, or many in a file if they are all of one size.

    An item follows from ``seed`` and its number. A file that is there already is kept: a file is
    given its name when it is complete.

    Raises BadInputError where ``count`` is not positive.
    """
    if count < 1:
        raise BadInputError(f"{count} items are no dataset", allowed="1 or more", key="count")
    directory.mkdir(parents=True, exist_ok=True)
    labels = np.random.default_rng(seed).integers(sample_format.classes, size=count)
    per_file = 1 if sample_format.item_bytes is None else _ITEMS_PER_FILE
    paths, lengths = [], []
    for first in range(0, count, per_file):
        numbers = range(first, min(first + per_file, count))
        path = directory / f"{first:08d}-{len(numbers)}{sample_format.file_suffix}"
        if not path.exists():
            _write(path, sample_format, numbers, labels, seed)
        paths.append(str(path))
        lengths += [path.stat().st_size // len(numbers)] * len(numbers)
    file_of, place_in_file = np.divmod(np.arange(count), per_file)
    length_bytes = np.array(lengths, dtype=np.int64)
    return StoredItems(
        paths=tuple(paths),
        file_of=file_of.astype(np.int32),
        offset_bytes=place_in_file * length_bytes,
        length_bytes=length_bytes,
        labels=labels,
    )


def _write(
    path: Path, sample_format: WritableFormat, numbers: range, labels: np.ndarray, seed: int
) -> None:
    unfinished = path.with_suffix(f".{os.getpid()}")
    with unfinished.open("wb") as file:
        for number in numbers:
            random = np.random.default_rng((seed, number))
            file.write(sample_format.made_item(int(labels[number]), random))
    unfinished.replace(path)
