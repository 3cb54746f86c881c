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
)
def test_every_epoch_has_the_same_items_each_once(
    items: int, batch_size: int, seed: int, epoch: int
) -> None:
    order = EpochOrder(items, batch_size, seed)
    first, later = order.batches(0), order.batches(epoch)
    assert later.shape == (order.batches_per_epoch, batch_size)
    assert later.size + order.dropped_items == items
    assert order.dropped_items < batch_size
    assert len(np.unique(later)) == later.size
    assert sorted(later.flat) == sorted(first.flat)


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
