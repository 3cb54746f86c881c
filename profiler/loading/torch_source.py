"""Batches from PyTorch's DataLoader: its workers read and decode."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader, Dataset, Sampler, default_collate

from profiler.loading.cached_items import CachedItems
from profiler.loading.epoch_order import EpochOrder, sample_random
from profiler.loading.failure import LoadingError
from profiler.loading.minio_cache import SharedMinioCache
from profiler.loading.sample_format import SampleFormat
from profiler.loading.stored_items import StoredItems

if TYPE_CHECKING:
    from profiler.loading.batches import LoadingOptions

_Batch = tuple[torch.Tensor, ...]
_Place = tuple[int, int]  # pass, item: all that a worker needs to know


class TorchSource:
    """See BatchSource.

    The workers live as long as the source, because a start costs seconds where they are spawned.
    What they fetch ahead ends with the epoch, so that after an epoch its hits are exact.

    A killed worker is a LoadingError where a batch is waited for. PyTorch also raises a
    RuntimeError of its own as soon as the signal of its end arrives, wherever the program is then.
    """

    def __init__(
        self,
        items: StoredItems,
        sample_format: SampleFormat,
        options: LoadingOptions,
        workers: int,
        cache: SharedMinioCache,
    ) -> None:
        order = EpochOrder(len(items), options.batch_size, options.shuffle_seed, options.passes)
        self.batches_per_epoch = order.batches_per_epoch
        self.dropped_items = order.dropped_items
        self._places = _Places(order)
        samples = _Samples(CachedItems(items, cache), sample_format, options.shuffle_seed)
        self._loader: DataLoader[_Batch | str] = DataLoader(
            samples,
            batch_sampler=self._places,
            num_workers=workers,
            collate_fn=_as_made,
            pin_memory=torch.device(options.device).type == "cuda",
            multiprocessing_context=options.start_method,
            generator=torch.Generator(),  # the program's own random numbers stay as they are
            persistent_workers=True,
        )

    def epoch(self, epoch: int, first_batch: int = 0) -> Iterator[_Batch]:
        self._places.begin(epoch, first_batch)
        try:
            batches = iter(self._loader)
            while (batch := next(batches, None)) is not None:
                if isinstance(batch, str):
                    raise LoadingError(batch)
                yield batch
        except (ConnectionError, EOFError) as error:
            # A worker was killed while it handed a batch's memory over.
            raise LoadingError(f"a loader worker ended early: {error}") from error
        except RuntimeError as error:
            raise LoadingError(str(error)) from error

    def close(self) -> None:
        # Where a loop or a traceback still refers to the iterator, nothing public ends its workers.
        running: Any = self._loader._iterator
        if running is not None:
            # The signal of a killed worker may arrive here; the others are ended all the same.
            with contextlib.suppress(RuntimeError):
                running._shutdown_workers()
            self._loader._iterator = None


class _Places(Sampler[list[_Place]]):
    """The batches of the epoch that was begun last."""

    def __init__(self, order: EpochOrder) -> None:
        self._order = order
        self.begin(0, 0)

    def begin(self, epoch: int, first_batch: int) -> None:
        self._epoch, self._first_batch = epoch, first_batch

    def __iter__(self) -> Iterator[list[_Place]]:
        batches = self._order.batches(self._epoch)[self._first_batch :]
        for number, batch in enumerate(batches, self._first_batch):
            pass_number = self._order.pass_of(self._epoch, number)
            yield [(pass_number, int(item)) for item in batch]

    def __len__(self) -> int:
        return self._order.batches_per_epoch - self._first_batch


class _Samples(Dataset[_Batch]):
    def __init__(self, items: CachedItems, sample_format: SampleFormat, seed: int) -> None:
        self._items = items
        self._format = sample_format
        self._seed = seed

    def __getitems__(self, places: Sequence[_Place]) -> _Batch | str:
        """A whole batch; or what is wrong with it, since an error would arrive as a traceback."""
        try:
            return tuple(default_collate([self._sample(*place) for place in places]))
        except LoadingError as error:
            return str(error)

    def _sample(self, pass_number: int, item: int) -> _Batch:
        data = self._items.read(item)
        stored = self._items.items
        try:
            return self._format.decode(
                data, int(stored.labels[item]), sample_random(self._seed, pass_number, item)
            )
        except (OSError, ValueError, SyntaxError) as error:  # what Pillow and parsers raise
            path = stored.paths[stored.file_of[item]]
            raise LoadingError(f"{path}: item {item} cannot be decoded: {error}") from error


def _as_made(batch: Any) -> Any:
    """The samples of a batch come as a batch already."""
    return batch
