"""A DataLoader like another one, with other workers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch.utils.data import DataLoader, IterableDataset


def rebuilt(loader: DataLoader[Any], workers: int, order: Iterable[Any]) -> DataLoader[Any]:
    """As ``loader``, with ``workers``.

    order: what it gives as the indices of the samples of each batch (of each sample, where the
        loader makes no batches). A loader of an IterableDataset has none.
    """
    options: dict[str, Any] = {
        "collate_fn": loader.collate_fn,
        "pin_memory": loader.pin_memory,
        "worker_init_fn": loader.worker_init_fn,
        "generator": loader.generator,
        "in_order": loader.in_order,
        "num_workers": workers,
    }
    if workers:
        options |= {
            "timeout": loader.timeout,
            "multiprocessing_context": loader.multiprocessing_context,
            "prefetch_factor": loader.prefetch_factor,
            "persistent_workers": loader.persistent_workers,
        }
    if isinstance(loader.dataset, IterableDataset):
        options |= {"batch_size": loader.batch_size, "drop_last": loader.drop_last}
    elif loader.batch_sampler is None:
        options |= {"batch_size": None, "sampler": order}
    else:
        options |= {"batch_sampler": order}
    return DataLoader(loader.dataset, **options)
