from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.loading.minio_cache import CacheCounts, SharedMinioCache
from traces.errors import BadInputError

_LENGTHS = np.array([100, 5000, 1, 30_000, 777, 4096, 12_000, 60_000], np.int64)


def _bytes_of(item: int) -> bytes:
    return np.random.default_rng(item).bytes(int(_LENGTHS[item]))


def _filled(budget_bytes: int) -> SharedMinioCache:
    cache = SharedMinioCache(_LENGTHS, budget_bytes, seed=1)
    for item in range(len(_LENGTHS)):
        cache.fill(item, _bytes_of(item))
    return cache


def _mapped() -> dict[int, str]:
    """The caches that this process has mapped: the inode of each, and the file that is mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {
        int(line.split()[4]): f"/proc/self/map_files/{line.split()[0]}"
        for line in lines
        if "roundelay-minio-cache" in line
    }


def _open_inodes() -> set[int]:
    return {file.stat().st_ino for file in Path("/proc/self/fd").iterdir() if file.exists()}


def _assert_holds_the_right_bytes(cache: SharedMinioCache) -> None:
    for item in np.flatnonzero(cache.filled):
        cached = cache.load(int(item))
        assert cached is not None
        assert bytes(cached) == _bytes_of(int(item))


def _in_child(cache: SharedMinioCache, item: int) -> int:
    """Stores an item in a forked process; how that ended."""
    pid = os.fork()
    if pid == 0:
        try:
            cache.store(item, _bytes_of(item))
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


@given(
    lengths=st.lists(st.integers(1, 1000), min_size=1, max_size=50),
    budgets=st.tuples(st.integers(0, 20_000), st.integers(0, 20_000)),
    seed=st.integers(0, 1000),
)
def test_a_larger_budget_holds_all_that_a_smaller_one_holds(
    lengths: list[int], budgets: tuple[int, int], seed: int
) -> None:
    length_bytes = np.array(lengths, np.int64)
    small, large = sorted(budgets)
    with SharedMinioCache(length_bytes, small, seed) as cache:
        few = cache.held
        assert cache.held_bytes == length_bytes[few].sum() <= small
        cache.resize(large)
        many = cache.held
        assert cache.held_bytes <= large
        assert (many | ~few).all()
        if not many.all():  # the next one did not fit
            assert cache.held_bytes + length_bytes.max() > large
    with SharedMinioCache(length_bytes, large, seed) as fresh:
        assert np.array_equal(fresh.held, many)


def test_the_budget_holds_to_the_byte() -> None:
    total = int(_LENGTHS.sum())
    with SharedMinioCache(_LENGTHS, total, seed=1) as cache:
        assert cache.held.all()
        cache.resize(total - 1)
        assert cache.held.sum() == len(_LENGTHS) - 1


def test_another_budget_keeps_what_still_fits() -> None:
    with _filled(int(_LENGTHS.sum())) as cache:
        cache.resize(40_000)
        assert 0 < cache.filled.sum() < len(_LENGTHS)
        assert np.array_equal(cache.filled, cache.held)
        _assert_holds_the_right_bytes(cache)
        before = cache.filled
        cache.resize(10**6)
        assert np.array_equal(cache.filled, before)
        assert cache.held.all()
        _assert_holds_the_right_bytes(cache)


def test_a_smaller_budget_gives_memory_back() -> None:
    length_bytes = np.full(64, 100_000, np.int64)
    others = _mapped()
    with SharedMinioCache(length_bytes, 6_400_000, seed=1) as cache:
        (segment,) = (file for inode, file in _mapped().items() if inode not in others)

        def used_bytes() -> int:
            return 512 * Path(segment).stat().st_blocks

        assert used_bytes() >= 6_400_000
        cache.resize(1_000_000)
        assert 1_000_000 <= used_bytes() <= 1_100_000
        cache.resize(0)
        assert used_bytes() <= 16_384


def test_a_process_counts_and_stores_for_all() -> None:
    with SharedMinioCache(_LENGTHS, 10**6, seed=1) as cache:
        assert os.WTERMSIG(_in_child(cache, 3)) == signal.SIGKILL
        assert np.flatnonzero(cache.filled).tolist() == [3]
        _assert_holds_the_right_bytes(cache)
        assert cache.counts() == CacheCounts(hits=1, misses=1, fetched_bytes=30_000)


def test_a_copy_that_does_not_end_leaves_an_item_to_be_filled_again() -> None:
    with SharedMinioCache(_LENGTHS, 10**6, seed=1) as cache:
        with pytest.raises(ValueError, match="assignment"):
            cache.fill(3, b"too few bytes")
        assert cache.load(3) is None
        cache.fill(3, _bytes_of(3))
        _assert_holds_the_right_bytes(cache)


def test_an_item_outside_the_budget_is_not_held() -> None:
    with SharedMinioCache(_LENGTHS, 0, seed=1) as cache:
        cache.store(3, _bytes_of(3))
        assert cache.load(3) is None
        assert not cache.filled.any()
        assert cache.counts() == CacheCounts(hits=0, misses=1, fetched_bytes=30_000)


def test_a_pickled_cache_is_the_same_memory() -> None:
    with _filled(10**6) as cache:
        other = pickle.loads(pickle.dumps(cache))  # noqa: S301
        _assert_holds_the_right_bytes(other)
        assert cache.counts().hits == len(_LENGTHS)
        other.close()
        _assert_holds_the_right_bytes(cache)


def test_nothing_is_left_of_a_closed_cache() -> None:
    others = _mapped()
    cache = _filled(10**6)
    (inode,) = _mapped().keys() - others.keys()
    view = cache.load(3)
    cache.close()
    cache.close()
    assert view is not None
    assert bytes(view) == _bytes_of(3)
    assert inode in _mapped()
    del view
    assert inode not in _mapped()
    assert inode not in _open_inodes()


def test_views_are_read_only() -> None:
    with _filled(10**6) as cache:
        view = cache.load(0)
        assert view is not None
        with pytest.raises(TypeError, match="read-only"):
            view[0] = 1


def test_more_than_the_memory_of_the_machine_is_refused_and_changes_nothing() -> None:
    with SharedMinioCache(np.array([10, 2**44], np.int64), 10, seed=2) as cache:
        before = cache.held
        with pytest.raises(BadInputError, match="does not fit the memory"):
            cache.resize(2**45)
        assert np.array_equal(cache.held, before)
        assert cache.budget_bytes == 10
