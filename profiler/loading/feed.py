"""What the iterator takes batches from, whichever loader makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from profiler.allocation import Allocation
from profiler.loading.batches import BatchSource
from profiler.loading.minio_cache import CacheCounts


@dataclass(frozen=True)
class FeedDescription:
    """loader: in words. batch_size, items, total_bytes, epoch_batches: None where unknown.

    not_followed: what of an allocation does not reach this feed, "workers" or "memory", and why.
    """

    loader: str
    batch_size: int | None = None
    items: int | None = None
    total_bytes: int | None = None
    epoch_batches: int | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    not_followed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Served:
    """What an allocation has become. workers: processes or threads of the loader, 0 where the
    training process loads, None where unknown. cached_items, cached_bytes: what the cache holds."""

    workers: int | None
    cached_items: int
    cached_bytes: int


@runtime_checkable
class Feed(Protocol):
    """Batches of one epoch after another, from a loader that can follow an allocation."""

    def __len__(self) -> int:
        """Batches of an epoch. TypeError where that is unknown."""

    def open(self, epoch: int, first_batch: int) -> Iterator[Any]:
        """The batches of ``epoch`` from ``first_batch`` on. Ends what was open before."""

    def follow(self, allocation: Allocation, fill: bool) -> Served:
        """Take as many workers and cache items as ``allocation`` has, from the next ``open`` on.

        fill: so that the cache is full before it returns.

        Raises
        ------
        BadInputError: this machine does not have the memory. Then all is as before.
        """

    def counts(self) -> CacheCounts:
        """Of the cache, since the first allocation."""

    def describe(self) -> FeedDescription: ...

    def state(self, next_batch: int) -> dict[str, Any]:
        """What beside the numbers of epoch and batch says which samples come next."""

    def restore(self, state: dict[str, Any], next_batch: int) -> None:
        """Go on as the feed did whose ``state`` this is.

        Raises
        ------
        BadInputError: it cannot give the same samples.
        """


class PlainFeed:
    """Batches that follow no allocation: of a BatchSource, or of any other iterable.

    Each iteration of an iterable is an epoch. Inside one it goes on by reading the first batches
    again and leaving them out; whether it gives the same samples then is up to it.
    """

    def __init__(self, batches: Iterable[Any] | BatchSource) -> None:
        self._batches = batches

    def __len__(self) -> int:
        if isinstance(self._batches, Sized):
            return len(self._batches)
        if isinstance(self._batches, Iterable):
            raise TypeError(f"{self._kind} has no length")
        return self._batches.batches_per_epoch

    def open(self, epoch: int, first_batch: int) -> Iterator[Any]:
        if isinstance(self._batches, Iterable):
            return islice(iter(self._batches), first_batch, None)
        return self._batches.epoch(epoch, first_batch)

    def follow(self, allocation: Allocation, fill: bool) -> Served:
        return Served(workers=None, cached_items=0, cached_bytes=0)

    def counts(self) -> CacheCounts:
        return CacheCounts()

    def describe(self) -> FeedDescription:
        reason = f"{self._kind} is no torch DataLoader"
        return FeedDescription(
            loader=self._kind, not_followed={"workers": reason, "memory": reason}
        )

    def state(self, next_batch: int) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any], next_batch: int) -> None:
        return

    @property
    def _kind(self) -> str:
        return type(self._batches).__name__
