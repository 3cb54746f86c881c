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
    """Every epoch has the same items, each once, in an order of its own.

    Items that do not fill a last batch are in no epoch at all: a random choice, made once. Were
    they others in each epoch, a cache would hit a few items more or less each time.
    """

    def __init__(self, items: int, batch_size: int, seed: int) -> None:
        self._seed = seed
        self.batches_per_epoch = items // batch_size
        self.batch_size = batch_size
        self.dropped_items = items % batch_size
        chosen = np.random.default_rng([_Stream.DROPPED, seed]).permutation(items)
        self._items = chosen[self.dropped_items :]

    def batches(self, epoch: int) -> NDArray[np.int64]:
        """int64[batches, batch size]: the items of each batch."""
        random = np.random.default_rng([_Stream.ORDER, self._seed, epoch])
        return random.permutation(self._items).reshape(-1, self.batch_size)


def sample_random(seed: int, epoch: int, item: int) -> np.random.Generator:
    """What an item is augmented with in an epoch, whoever does it and whenever."""
    return np.random.default_rng([_Stream.SAMPLE, seed, epoch, item])
