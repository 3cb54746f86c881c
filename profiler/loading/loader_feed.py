"""A torch DataLoader as a feed: replaced, also inside an epoch, by one with other workers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from torch.utils.data import DataLoader, IterableDataset

from profiler.allocation import Allocation
from profiler.loading.cached_folder import CachedFolder, folder_of
from profiler.loading.feed import FeedDescription, Served
from profiler.loading.index_batches import IndexBatches
from profiler.loading.minio_cache import CacheCounts
from profiler.loading.rebuilt_loader import rebuilt
from profiler.loading.seeded_order import SeededOrder
from profiler.loading.workers import workers_for

ITERATE: Callable[[DataLoader[Any]], Iterator[Any]] = DataLoader.__iter__
"""As torch has it, also where DataLoaders are watched (profiler.training.watched_loaders)."""


class LoaderFeed:
    """The batches of ``loader``, whose ``__iter__`` is DataLoader's, from DataLoaders like it.

    Its workers follow the allocation; where it has none, loading is the training process's own
    work and stays so. The files of an ImageFolder come through a MinIO cache as soon as there is an
    allocation. An IterableDataset does not say which samples it has given: inside an epoch it goes
    on by reading the first batches again, and under another allocation its stream begins anew.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        self._seeds = SeededOrder(loader)
        self._order = IndexBatches(self._seeds)
        self._is_stream = isinstance(loader.dataset, IterableDataset)
        self._workers = loader.num_workers
        self._inner: DataLoader[Any] | None = None
        self._at: tuple[int, int] | None = None
        self._counted = CacheCounts()

    def __len__(self) -> int:
        return len(self._loader)

    def open(self, epoch: int, first_batch: int) -> Iterator[Any]:
        if self._inner is None:
            self._inner = rebuilt(self._loader, self._workers, self._order)
        begins_anew = self._at != (epoch, first_batch)
        self._at = (epoch, first_batch)
        batches = self._batches(self._inner, epoch, first_batch)
        if begins_anew and self._is_stream:
            return islice(batches, first_batch, None)
        if begins_anew:
            self._order.begin(first_batch)
        return batches

    def follow(self, allocation: Allocation, fill: bool) -> Served:
        self._inner = None  # with its workers: none may read while the cache changes
        items, held_bytes = 0, 0
        if isinstance(self._folder, CachedFolder):
            items, held_bytes = self._folder.resize(allocation.cache_bytes, fill)
            self._counted = self._folder.counts()
        if self._loader.num_workers:
            self._workers = workers_for(allocation.cpus)
        return Served(self._workers, items, held_bytes)

    def counts(self) -> CacheCounts:
        if isinstance(self._folder, CachedFolder):
            return self._folder.counts().since(self._counted)
        return CacheCounts()

    def describe(self) -> FeedDescription:
        loader, folder = self._loader, self._folder
        not_followed = {}
        if not loader.num_workers:
            not_followed["workers"] = "the script's DataLoader has no workers"
        if isinstance(folder, str):
            not_followed["memory"] = folder
        size: int | None = getattr(loader.batch_sampler, "batch_size", loader.batch_size)
        return FeedDescription(
            loader=type(loader).__name__,
            batch_size=size,
            items=None if self._is_stream else len(loader.dataset),  # type: ignore[arg-type]
            total_bytes=None if isinstance(folder, str) else folder.items.total_bytes,
            epoch_batches=None if self._is_stream or not size else len(loader.dataset) // size,  # type: ignore[arg-type]
            not_followed=not_followed,
        )

    def state(self, next_batch: int) -> dict[str, Any]:
        return {"shuffle_seed": self._seeds.seed if next_batch else None}

    def restore(self, state: dict[str, Any], next_batch: int) -> None:
        if next_batch and not self._is_stream:
            self._seeds.restore(state["shuffle_seed"])

    @functools.cached_property
    def _folder(self) -> CachedFolder | str:
        """What the samples are read from; or why the cache does not hold them."""
        found = folder_of(self._loader.dataset)
        return found if isinstance(found, str) else CachedFolder(*found)

    def _batches(self, loader: DataLoader[Any], epoch: int, first_batch: int) -> Iterator[Any]:
        for batch_number, batch in enumerate(ITERATE(loader), first_batch + 1):
            if not self._is_stream:
                self._order.delivered()
            self._at = (epoch, batch_number)
            yield batch
