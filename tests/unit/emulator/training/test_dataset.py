"""Dataset files: real bytes, the same for the same seed, whole or not there."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from emulator.training.cpu_work import work_of
from emulator.training.dataset import LEAST_JPEG_ITEM_BYTES, make_dataset, make_jpeg_dataset
from traces.errors import EmulationError

SIZE_BYTES = 3 * 2**20 + 5


def test_the_same_seed_gives_the_same_bytes_for_the_owner_alone(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one", "same", "other")]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        make_dataset(file, SIZE_BYTES, seed)
    one, same, other = (file.read_bytes() for file in files)
    assert len(one) == SIZE_BYTES
    assert one == same
    assert one != other
    assert one[: 2**20] != one[2**20 : 2**21]
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    assert sorted(tmp_path.iterdir()) == sorted(files)


def test_what_does_not_fit_the_disk_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EmulationError, match="does not fit"):
        make_dataset(tmp_path / "huge", 2**60, 1)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EmulationError, match="cannot be written"):
        make_dataset(tmp_path / "none" / "data", 10, 1)


@pytest.mark.parametrize("item_bytes", [LEAST_JPEG_ITEM_BYTES, 40_001])
def test_in_every_item_of_a_jpeg_dataset_an_image_lies_whole(
    tmp_path: Path, item_bytes: int
) -> None:
    file = tmp_path / "images"
    make_jpeg_dataset(file, 200 * item_bytes, seed=3)
    data = file.read_bytes()
    items = [data[start : start + item_bytes] for start in range(0, len(data), item_bytes)]
    assert len(items) == 200
    assert len(set(items)) > 1
    for item in items:
        work_of("jpeg")(bytearray(item))
