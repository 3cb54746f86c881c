"""Stored items as a feed: a new source for each allocation, one cache for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from profiler.allocation import Allocation
from profiler.loading.batches import BatchSource, LoadingOptions, open_source
from profiler.loading.cached_items import fill_cache
from profiler.loading.feed import FeedDescription, Served
from profiler.loading.minio_cache import CacheCounts, SharedMinioCache
from profiler.loading.sample_format import SampleFormat
from profiler.loading.stored_items import StoredItems
from profiler.loading.workers import workers_for
from traces.errors import BadInputError


@dataclass(frozen=True, eq=False)
class StoredSamples:
    """What the samples are, and how they are loaded."""

    items: StoredItems
    format: SampleFormat
    loading: LoadingOptions


class StoredFeed:
    """Batches of ``samples`` through ``cache``.

    workers: until an allocation comes. The order of the samples does not depend on it, so a job
        that goes on with other workers goes on at the same sample.
    """

    def __init__(self, samples: StoredSamples, cache: SharedMinioCache, workers: int) -> None:
        self._samples = samples
        self._cache = cache
        self._workers = workers
        self._source: BatchSource | None = None
        self._counted = CacheCounts()

    def __len__(self) -> int:
        loading = self._samples.loading
        return len(self._samples.items) // loading.batch_size * loading.passes

    def open(self, epoch: int, first_batch: int) -> Iterator[Any]:
        if self._source is None:
            samples = self._samples
            self._source = open_source(
                samples.items, samples.format, samples.loading, self._workers, self._cache
            )
        return self._source.epoch(epoch, first_batch)

    def follow(self, allocation: Allocation, fill: bool) -> Served:
        self.close()
        self._cache.resize(allocation.cache_bytes)
        if fill:
            fill_cache(self._samples.items, self._cache)
        self._workers = workers_for(allocation.cpus)
        self._counted = self._cache.counts()
        return Served(self._workers, int(self._cache.held.sum()), self._cache.held_bytes)

    def counts(self) -> CacheCounts:
        return self._cache.counts().since(self._counted)

    def describe(self) -> FeedDescription:
        items, loading = self._samples.items, self._samples.loading
        return FeedDescription(
            loader=loading.loader,
            batch_size=loading.batch_size,
            items=len(items),
            total_bytes=items.total_bytes,
            epoch_batches=len(self),
            skipped=dict(items.skipped),
        )

    def state(self, next_batch: int) -> dict[str, Any]:
        return {
            "shuffle_seed": self._samples.loading.shuffle_seed,
            "cache_bytes": self._cache.budget_bytes,
            "cached_items": self._cached_items(),
        }

    def restore(self, state: dict[str, Any], next_batch: int) -> None:
        """The cache has as many bytes as it had, and a place for the same items."""
        seed = self._samples.loading.shuffle_seed
        if state.get("shuffle_seed") != seed:
            raise BadInputError(
                f"the state is of a job with the shuffle seed {state.get('shuffle_seed')}",
                allowed=f"a state of the shuffle seed {seed}",
            )
        self.close()
        before_bytes = self._cache.budget_bytes
        self._cache.resize(state["cache_bytes"])
        if state["cached_items"] != self._cached_items():
            self._cache.resize(before_bytes)
            raise BadInputError(
                "the cache has a place for other items than when the state was saved",
                allowed="the same dataset, and a cache of the same seed",
            )

    def close(self) -> None:
        """End the workers."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def _cached_items(self) -> str:
        """A digest of which items the cache has a place for."""
        return hashlib.sha256(self._cache.held.tobytes()).hexdigest()
