"""Every epoch walks all items once, in an order of its own, from wherever it is taken up."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from emulator.training.epoch_order import epoch_order, items_before, position_after, walk
from emulator.training.specification import EpochPosition


@given(seed=st.integers(0, 2**32), epoch=st.integers(0, 1000), items=st.integers(1, 300))
def test_an_epoch_has_every_item_once(seed: int, epoch: int, items: int) -> None:
    assert sorted(epoch_order(seed, epoch, items)) == list(range(items))


def test_orders_differ_by_epoch_and_seed_and_are_the_same_again() -> None:
    orders = {tuple(epoch_order(seed, epoch, 50)) for seed in range(4) for epoch in range(4)}
    assert len(orders) == 16
    assert orders == {
        tuple(epoch_order(seed, epoch, 50)) for seed in range(4) for epoch in range(4)
    }


@given(items=st.integers(1, 20), first=st.integers(0, 80), seed=st.integers(0, 100))
def test_a_walk_taken_up_anywhere_goes_on_as_the_whole_one(
    items: int, first: int, seed: int
) -> None:
    whole = list(itertools.islice(walk(seed, items, 0), first + 30))
    assert list(itertools.islice(walk(seed, items, first), 30)) == whole[first:]
    assert items_before(whole[first][0], items) == first


def test_without_a_dataset_there_is_one_epoch() -> None:
    assert position_after(17, 0) == EpochPosition(0, 17)
    assert items_before(EpochPosition(0, 17), 0) == 17
