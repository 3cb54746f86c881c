"""The order in which a pipeline walks its dataset: a new random one every epoch. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from emulator.training.specification import EpochPosition


def epoch_order(shuffle_seed: int, epoch: int, dataset_items: int) -> NDArray[np.int64]:
    """Every item once, in an order that the seed and the epoch fix. Shape (dataset_items,)."""
    return default_rng((shuffle_seed, epoch)).permutation(dataset_items)


def items_before(position: EpochPosition, dataset_items: int) -> int:
    """How many items lie before ``position``, counted from the first epoch's start."""
    return position.epoch * dataset_items + position.item


def position_after(items: int, dataset_items: int) -> EpochPosition:
    """Where a pipeline is after ``items`` items. Without a dataset all belong to one epoch."""
    return (
        EpochPosition(*divmod(items, dataset_items)) if dataset_items else EpochPosition(0, items)
    )


def walk(shuffle_seed: int, dataset_items: int, first: int) -> Iterator[tuple[EpochPosition, int]]:
    """(position, item) from the one with ``first`` items before it, for ever."""
    position = position_after(first, dataset_items)
    epoch, start = position.epoch, position.item
    while True:
        order = epoch_order(shuffle_seed, epoch, dataset_items)
        for index in range(start, dataset_items):
            yield EpochPosition(epoch, index), int(order[index])
        epoch, start = epoch + 1, 0
