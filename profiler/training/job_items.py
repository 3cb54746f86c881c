"""The items that a built-in job trains on: found, or made."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from profiler.loading.image_files import image_files
from profiler.loading.stored_items import StoredItems
from profiler.models.builtin import builtin_model
from profiler.training.job_specification import JobSpecification
from traces.errors import BadInputError
from traces.run_directory import give_to_caller


def batch_size_of(job: JobSpecification) -> int:
    """Samples per iteration. BadInputError where there is no such model."""
    return job.batch_size or builtin_model(job.model, job.tiny).batch_size


def stored_items(
    job: JobSpecification, progress: Callable[[int, int], None] = lambda done, total: None
) -> StoredItems:
    """The items that ``job`` trains on; those that are to be made are made.

    progress: files looked at, and how many there are.

    Raises
    ------
    BadInputError: no directory, no images, or too few for a batch.
    """
    model = builtin_model(job.model, job.tiny)
    if job.data is None:
        directory = Path(job.made_directory)
        items = model.make_items(directory, job.made_items, job.seed)
        give_to_caller(directory)
        os.sync()  # what is still to be written cannot be dropped from the page cache
    elif model.kind != "image":
        raise BadInputError(
            f"{model.name} is no image model, and is trained on made data",
            allowed="--data with an image model, or a script of your own",
            key="--data",
        )
    else:
        items = image_files(Path(job.data), job.on_broken, progress)
        model.check_labels(items)
    batch_size = batch_size_of(job)
    if len(items) < batch_size:
        raise BadInputError(
            f"{len(items)} items do not fill a batch of {batch_size}",
            allowed="more images, or a smaller --batch-size",
            file=job.data,
        )
    return items
