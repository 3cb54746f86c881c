"""The order of a torch DataLoader's samples: read, and set again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, SequentialSampler

from traces.errors import BadInputError


class SeededOrder:
    """What ``loader``'s sampler gives, with a known seed for each epoch; each iteration is one.

    The seed is drawn when and where torch's own RandomSampler draws it: so the order is the one
    that the loader alone would have had. (A loader that has a generator of its own draws its seeds
    from that, and its order is another one.) A sampler without a generator keeps its order.

    seed: of the epoch that was begun last; None where its order has none.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._batches = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
        self._sampler: Any = self._batches
        if isinstance(self._sampler, BatchSampler):
            self._sampler = self._sampler.sampler
        self._is_shuffled = hasattr(self._sampler, "generator")
        self._drawn_from = loader.generator
        self._generator = torch.Generator()
        self._next_seed: int | None = None
        self.seed: int | None = None

    def restore(self, seed: int | None) -> None:
        """The next epoch has the order that it has with ``seed``.

        Raises
        ------
        BadInputError: its order does not follow from a seed.
        """
        is_known = isinstance(self._sampler, (SequentialSampler, DistributedSampler))
        if self._is_shuffled != (seed is not None) or not (self._is_shuffled or is_known):
            raise BadInputError(
                f"the order that {type(self._sampler).__name__} had cannot be had again",
                allowed="the kind of sampler that the state was saved with: a SequentialSampler, "
                "a DistributedSampler, or one with a generator",
            )
        self._next_seed = seed

    def __iter__(self) -> Iterator[Any]:
        if self._is_shuffled:
            self.seed, self._next_seed = self._next_seed, None
            if self.seed is None:
                drawn = torch.empty((), dtype=torch.int64).random_(generator=self._drawn_from)
                self.seed = int(drawn.item())
            self._sampler.generator = self._generator.manual_seed(self.seed)
        yield from self._batches
