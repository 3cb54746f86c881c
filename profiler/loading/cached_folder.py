"""The files of a torchvision ImageFolder, read through a MinIO cache."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from profiler.loading.cached_items import CachedItems, fill_cache
from profiler.loading.minio_cache import CacheCounts, SharedMinioCache
from profiler.loading.stored_items import StoredItems

if TYPE_CHECKING:
    from PIL.Image import Image
    from torchvision.datasets import DatasetFolder

_CACHE_SEED = 0


class CachedFolder:
    """The files that ``indices`` of ``folder`` are, and the cache that they come through.

    The cache begins with room for nothing. Files are read past the kernel's page cache. A folder
    that has such a cache for the same files already keeps it.
    """

    def __init__(self, folder: DatasetFolder, indices: Sequence[int]) -> None:
        paths = tuple(folder.samples[index][0] for index in indices)
        if not isinstance(folder.loader, CachedImageLoader) or folder.loader.items.paths != paths:
            labels = np.array([folder.samples[index][1] for index in indices], np.int64)
            items = _whole_files(paths, labels)
            cache = SharedMinioCache(items.length_bytes, 0, _CACHE_SEED)
            folder.loader = CachedImageLoader(CachedItems(items, cache))
        self.items = folder.loader.items
        self._cache = folder.loader.cache

    def resize(self, cache_bytes: int, fill: bool) -> tuple[int, int]:
        """Items and bytes that the cache then has a place for. Only while no worker reads.

        Raises
        ------
        BadInputError: this machine does not have the memory.
        LoadingError: a file cannot be read.
        """
        self._cache.resize(cache_bytes)
        if fill:
            fill_cache(self.items, self._cache)
        return int(self._cache.held.sum()), self._cache.held_bytes

    def counts(self) -> CacheCounts:
        return self._cache.counts()


class CachedImageLoader:
    """Gives the image in a file as torchvision's own loader does, but through the cache."""

    def __init__(self, cached: CachedItems) -> None:
        self._cached = cached
        self._item_of = {path: item for item, path in enumerate(cached.items.paths)}

    @property
    def items(self) -> StoredItems:
        return self._cached.items

    @property
    def cache(self) -> SharedMinioCache:
        return self._cached.cache

    def __call__(self, path: str) -> Image:
        from PIL import Image

        item = self._item_of.get(path)
        # A file without a number is outside the part that is trained on, as for validation.
        data = path if item is None else io.BytesIO(self._cached.read(item))
        with Image.open(data) as image:
            return image.convert("RGB")


def folder_of(dataset: Any) -> tuple[DatasetFolder, Sequence[int]] | str:
    """The folder below ``dataset``, and which of its files ``dataset`` has; or why there is none.

    It is looked for below torch's Subset, as random_split makes it.
    """
    from torch.utils.data import Subset

    indices: Sequence[int] | None = None
    while isinstance(dataset, Subset):
        own = dataset.indices
        indices = own if indices is None else [own[index] for index in indices]
        dataset = dataset.dataset
    try:
        import torchvision
        from torchvision.datasets import DatasetFolder, folder
    except ImportError:
        return "torchvision is not installed"
    if not isinstance(dataset, DatasetFolder):
        return f"the dataset is a {type(dataset).__name__}, not a torchvision ImageFolder"
    is_known = dataset.loader in (folder.default_loader, folder.pil_loader)
    if not is_known and not isinstance(dataset.loader, CachedImageLoader):
        return "the ImageFolder has a loader of its own"
    if torchvision.get_image_backend() != "PIL":
        return f"torchvision reads images by {torchvision.get_image_backend()}"
    return dataset, range(len(dataset.samples)) if indices is None else indices


def _whole_files(paths: tuple[str, ...], labels: NDArray[np.int64]) -> StoredItems:
    count = len(paths)
    return StoredItems(
        paths=paths,
        file_of=np.arange(count, dtype=np.int32),
        offset_bytes=np.zeros(count, np.int64),
        length_bytes=np.array([Path(path).stat().st_size for path in paths], np.int64),
        labels=labels,
    )
