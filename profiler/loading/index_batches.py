"""Which samples each batch of an epoch has, so that an epoch can go on with another loader."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any


class IndexBatches:
    """The batches of an epoch, as the indices of their samples.

    A loader asks for batches ahead of the loop. When its workers are replaced inside an epoch, the
    next loader begins with those that were asked for and not delivered. Delivery is in order, as it
    is with a DataLoader; with its in_order=False a change inside an epoch may repeat a few samples
    and leave out as many.

    batches: a batch sampler, or a sampler where the loader makes no batches. Each iteration of it
        is an epoch.
    """

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches = batches
        self._rest: Iterator[Any] = iter(())
        self._asked: deque[Any] = deque()

    def begin(self, first_batch: int) -> None:
        """A new epoch, from its batch ``first_batch`` on."""
        self._asked.clear()
        self._rest = islice(iter(self._batches), first_batch, None)

    def delivered(self) -> None:
        """The loop has the next batch."""
        self._asked.popleft()

    def __iter__(self) -> Iterator[Any]:
        """What the loop has not got of the epoch."""
        self._rest = chain(tuple(self._asked), self._rest)
        self._asked.clear()
        for indices in self._rest:
            self._asked.append(indices)
            yield indices
