"""Batches for a training loop, whichever loader makes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from profiler.loading.minio_cache import SharedMinioCache
from profiler.loading.sample_format import SampleFormat
from profiler.loading.stored_items import StoredItems
from traces.errors import BadInputError

if TYPE_CHECKING:
    import torch

Loader = Literal["torch", "dali"]
StartMethod = Literal["fork", "spawn", "forkserver"]


@dataclass(frozen=True)
class LoadingOptions:
    """shuffle_seed: of the order of the items and of their augmentation.

    start_method: of the loader's workers. device: where the model is, "cpu" or as "cuda:0".
    passes: how often an epoch goes through all items.
    """

    loader: Loader
    batch_size: int
    shuffle_seed: int
    start_method: StartMethod
    device: str
    passes: int = 1


class BatchSource(Protocol):
    """An endless supply of epochs."""

    @property
    def batches_per_epoch(self) -> int: ...

    @property
    def dropped_items(self) -> int:
        """Items that no epoch has, because they do not fill a batch: the same in every epoch."""

    def epoch(self, epoch: int, first_batch: int = 0) -> Iterator[tuple[torch.Tensor, ...]]:
        """The batches of an epoch from ``first_batch`` on, on the host.

        DALI makes them on the device; on a GPU they are complete in the order of the current
        stream.

        The order follows from the shuffle seed and the epoch alone. An epoch that is not used up is
        given up when the next one begins.

        Raises
        ------
        LoadingError: a worker was killed, or an item cannot be read or decoded.
        """

    def close(self) -> None:
        """Ends the workers."""


def open_source(
    items: StoredItems,
    sample_format: SampleFormat,
    options: LoadingOptions,
    workers: int,
    cache: SharedMinioCache,
) -> BatchSource:
    """A source of batches of ``items``, read through ``cache`` (of budget 0, where none is wanted).

    workers: processes that read (torch: and decode); threads that decode, of DALI. At least 1.

    Raises
    ------
    BadInputError: fewer items than a batch has; DALI does not know the format.
    MissingCapabilityError: DALI is not installed.
    """
    if len(items) < options.batch_size:
        raise BadInputError(
            f"{len(items)} items do not fill a batch of {options.batch_size}",
            allowed="a batch size up to the number of items",
        )
    # Either loader takes a second to import, and only one is used.
    if options.loader == "dali":
        from profiler.loading.dali_source import DaliSource

        return DaliSource(items, sample_format, options, workers, cache)
    from profiler.loading.torch_source import TorchSource

    return TorchSource(items, sample_format, options, workers, cache)
