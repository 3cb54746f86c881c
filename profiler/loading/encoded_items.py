"""Encoded samples for DALI. Without torch, which its spawned workers need not load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from profiler.loading.cached_items import CachedItems
from profiler.loading.epoch_order import EpochOrder
from profiler.loading.owner_end import end_with_owner

if TYPE_CHECKING:
    from nvidia.dali.types import SampleInfo


class EncodedItems:
    """What DALI's workers call for each sample. Picklable."""

    def __init__(
        self, items: CachedItems, order: EpochOrder, first_epoch: int, first_batch: int
    ) -> None:
        self._items = items
        self._order = order
        self._first_epoch = first_epoch
        self._first_batch = first_batch
        self._is_watching = False
        self._epoch = -1
        self._batches = np.empty((0, 0), np.int64)

    def __call__(self, sample: SampleInfo) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The bytes of an item, and its label."""
        if not self._is_watching:
            self._is_watching = True
            end_with_owner()
        batch = sample.iteration + (self._first_batch if sample.epoch_idx == 0 else 0)
        if batch >= self._order.batches_per_epoch:
            raise StopIteration
        epoch = self._first_epoch + sample.epoch_idx
        if epoch != self._epoch:
            self._epoch, self._batches = epoch, self._order.batches(epoch)
        item = int(self._batches[batch, sample.idx_in_batch])
        data = np.frombuffer(self._items.read(item), np.uint8)
        return data, self._items.items.labels[item, ...]
