"""Images of a torchvision folder come through the cache, and are those that they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from torch.utils.data import Subset
from torchvision.datasets import ImageFolder

from profiler.loading.cached_folder import CachedFolder, folder_of
from tests.unit.profiler.loading.files import write_image

FILES = 6


@pytest.fixture
def folder(tmp_path: Path) -> ImageFolder:
    for number in range(FILES):
        write_image(tmp_path / f"class{number % 2}" / f"{number}.png", seed=number)
    return ImageFolder(str(tmp_path))


def test_images_are_the_same_and_each_read_is_counted(folder: ImageFolder) -> None:
    plain = [(image.tobytes(), label) for image, label in folder]
    cached = CachedFolder(folder, range(FILES))
    half = cached.items.total_bytes // 2
    items, held_bytes = cached.resize(half, fill=True)
    assert 0 < held_bytes <= half
    assert [(image.tobytes(), label) for image, label in folder] == plain
    counts = cached.counts()
    assert (counts.hits, counts.misses) == (items, FILES - items)
    assert counts.fetched_bytes == cached.items.total_bytes - held_bytes


def test_files_that_are_not_trained_on_stay_out_of_it(folder: ImageFolder) -> None:
    found = folder_of(Subset(Subset(folder, [5, 3, 1]), [0, 2]))
    assert not isinstance(found, str)
    cached = CachedFolder(*found)
    assert [Path(path).name for path in cached.items.paths] == ["5.png", "2.png"]
    assert len(list(folder)) == FILES
    assert cached.counts().misses == 2


def test_another_loader_of_the_same_files_has_the_same_cache(folder: ImageFolder) -> None:
    CachedFolder(folder, range(FILES)).resize(10**6, fill=True)
    found = folder_of(folder)
    assert not isinstance(found, str)
    again = CachedFolder(*found)
    assert len(list(folder)) == FILES
    assert (again.counts().hits, again.counts().misses) == (FILES, 0)


def test_what_is_no_folder_of_images_is_named(folder: ImageFolder) -> None:
    assert folder_of([1, 2]) == "the dataset is a list, not a torchvision ImageFolder"
    folder.loader = Image.open
    assert folder_of(Subset(folder, [0])) == "the ImageFolder has a loader of its own"
