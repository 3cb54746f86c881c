from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profiler.loading.epoch_order import EpochOrder, sample_random


@given(
    items=st.integers(1, 200),
    batch_size=st.integers(1, 40),
    seed=st.integers(0, 2**40),
    epoch=st.integers(0, 50),
    passes=st.integers(1, 4),
)
def test_every_epoch_has_the_same_items_each_once_a_pass(
    items: int, batch_size: int, seed: int, epoch: int, passes: int
) -> None:
    order = EpochOrder(items, batch_size, seed, passes)
    first, later = order.batches(0), order.batches(epoch)
    assert later.shape == (order.batches_per_epoch, batch_size)
    assert later.size == passes * (items - order.dropped_items)
    assert order.dropped_items < batch_size
    for one in np.split(later, passes):
        assert len(np.unique(one)) == one.size
        assert sorted(one.flat) == sorted(first[: len(one)].flat)


def test_passes_are_epochs_of_one_pass_in_a_row() -> None:
    long, short = EpochOrder(20, 5, 1, passes=3), EpochOrder(20, 5, 1)
    assert np.array_equal(long.batches(2), np.concatenate([short.batches(n) for n in (6, 7, 8)]))
    assert [long.pass_of(2, batch) for batch in range(12)] == [6] * 4 + [7] * 4 + [8] * 4
    assert [short.pass_of(2, batch) for batch in range(4)] == [2] * 4


def test_order_follows_from_seed_and_epoch_alone() -> None:
    order = EpochOrder(100, 10, 1)
    assert np.array_equal(order.batches(3), EpochOrder(100, 10, 1).batches(3))
    assert not np.array_equal(order.batches(3), order.batches(4))
    assert not np.array_equal(order.batches(3), EpochOrder(100, 10, 2).batches(3))


def test_no_two_samples_share_random_numbers() -> None:
    draws = {
        sample_random(seed, epoch, item).integers(2**62)
        for seed in range(3)
        for epoch in range(3)
        for item in range(3)
    }
    assert len(draws) == 27
