from __future__ import annotations

from pathlib import Path

import numpy as np

from profiler.loading.cached_items import CachedItems, fill_cache
from profiler.loading.minio_cache import CacheCounts, SharedMinioCache
from tests.unit.profiler.loading.files import one_file

_LENGTHS = [3000, 10, 700, 4096, 1, 2500, 900, 50]


def test_a_miss_is_fetched_once_and_then_a_hit_where_it_is_held(tmp_path: Path) -> None:
    items, data = one_file(tmp_path / "items", _LENGTHS)
    with SharedMinioCache(items.length_bytes, 6000, seed=3) as cache:
        reader = CachedItems(items, cache)
        for _ in range(3):
            assert [bytes(reader.read(item)) for item in range(len(items))] == data
        held = int(cache.held.sum())
        assert 0 < held < len(items)
        not_held_bytes = items.total_bytes - cache.held_bytes
        assert cache.counts() == CacheCounts(
            hits=2 * held,
            misses=len(items) + 2 * (len(items) - held),
            fetched_bytes=items.total_bytes + 2 * not_held_bytes,
        )


def test_filling_reads_what_is_held_and_counts_nothing(tmp_path: Path) -> None:
    items, data = one_file(tmp_path / "items", _LENGTHS)
    with SharedMinioCache(items.length_bytes, 6000, seed=3) as cache:
        seen: list[tuple[int, int]] = []
        fill_cache(items, cache, lambda done, total: seen.append((done, total)))
        held = np.flatnonzero(cache.held)
        assert seen == [(len(held), len(held))]
        assert cache.counts() == CacheCounts()
        assert np.array_equal(cache.filled, cache.held)
        for item in held:
            cached = cache.load(int(item))
            assert cached is not None
            assert bytes(cached) == data[item]
