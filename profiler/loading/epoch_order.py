"""The order of items in an epoch, and the random numbers of each sample."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class _Stream(IntEnum):
    """What random numbers are for: no two purposes share any."""

    DROPPED = 1
    ORDER = 2
    SAMPLE = 3


class EpochOrder:
    """Every epoch has the same items, each as often, in an order of its own.

    passes: how often it goes through them all, each time in another order.

    Items that do not fill a last batch are in no epoch at all: a random choice, made once. Were
    they others in each epoch, a cache would hit a few items more or less each time.
    """

    def __init__(self, items: int, batch_size: int, seed: int, passes: int = 1) -> None:
        self._seed = seed
        self._passes = passes
        self._batches_per_pass = items // batch_size
        self.batches_per_epoch = passes * self._batches_per_pass
        self.batch_size = batch_size
        self.dropped_items = items % batch_size
        chosen = np.random.default_rng([_Stream.DROPPED, seed]).permutation(items)
        self._items = chosen[self.dropped_items :]

    def batches(self, epoch: int) -> NDArray[np.int64]:
        """int64[batches, batch size]: the items of each batch."""
        first = epoch * self._passes
        return np.concatenate([self._pass(first + number) for number in range(self._passes)])

    def pass_of(self, epoch: int, batch: int) -> int:
        """In which pass that batch is, counted over all epochs."""
        return epoch * self._passes + batch // self._batches_per_pass

    def _pass(self, number: int) -> NDArray[np.int64]:
        random = np.random.default_rng([_Stream.ORDER, self._seed, number])
        return random.permutation(self._items).reshape(-1, self.batch_size)


def sample_random(seed: int, pass_number: int, item: int) -> np.random.Generator:
    """What an item is augmented with in a pass, whoever does it and whenever."""
    return np.random.default_rng([_Stream.SAMPLE, seed, pass_number, item])
