"""The cache keeps what came first, and after a restart what it kept before."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.training.epoch_order import walk
from emulator.training.minio_cache import MinioCache, Sample, capacity_items

EPOCHS = 3


def hits_by_epoch(cache: MinioCache, items: int, seed: int, first_epoch: int = 0) -> list[int]:
    hits = [0] * EPOCHS
    first = first_epoch * items
    for position, item in itertools.islice(walk(seed, items, first), items * EPOCHS):
        if cache.find(item) is not None:
            hits[position.epoch - first_epoch] += 1
        else:
            cache.admit(Sample(item))
    return hits


@given(
    items=st.integers(1, 60),
    cache_bytes=st.integers(0, 5000),
    item_bytes=st.integers(1, 100),
    seed=st.integers(0, 99),
)
def test_every_epoch_but_the_first_has_as_many_hits_as_the_cache_holds_items(
    items: int, cache_bytes: int, item_bytes: int, seed: int
) -> None:
    capacity = capacity_items(cache_bytes, item_bytes)
    cache = MinioCache(capacity)
    held = min(capacity, items)
    assert hits_by_epoch(cache, items, seed) == [0, held, held]
    assert len(cache.index) == held
    assert capacity * item_bytes <= cache_bytes < (capacity + 1) * item_bytes


@given(
    items=st.integers(1, 40),
    before=st.integers(0, 40),
    after=st.integers(0, 40),
    seed=st.integers(0, 99),
)
def test_after_a_restart_the_same_items_have_their_places_first(
    items: int, before: int, after: int, seed: int
) -> None:
    old = MinioCache(before)
    hits_by_epoch(old, items, seed)
    new = MinioCache(after, old.index)
    kept = old.index[:after]
    assert new.index == kept
    held = min(after, items)
    assert hits_by_epoch(new, items, seed, first_epoch=EPOCHS) == [0, held, held]
    assert new.index[: len(kept)] == kept


@given(sizes=st.lists(st.integers(0, 30), min_size=1, max_size=6), seed=st.integers(0, 99))
def test_a_smaller_cache_lets_go_of_what_came_last(sizes: list[int], seed: int) -> None:
    cache = MinioCache(20)
    for round_, size in enumerate(sizes):
        hits_by_epoch(cache, 25, seed, first_epoch=round_ * EPOCHS)
        before = list(cache.index)
        cache.resize(size)
        assert cache.index == before[:size]
        assert all(cache.find(item) is not None for item in cache.index)
        assert all(cache.find(item) is None for item in before[size:])


def test_an_item_on_its_way_is_a_hit() -> None:
    cache = MinioCache(1)
    sample = Sample(3)
    cache.admit(sample)
    assert cache.find(3) is sample


def test_an_index_with_an_item_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="two places"):
        MinioCache(5, [1, 2, 1])
