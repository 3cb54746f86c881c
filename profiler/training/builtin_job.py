"""python -m profiler.training.builtin_job SPECIFICATION: trains a built-in model to be measured."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch

from profiler.loading.batches import LoadingOptions, StartMethod
from profiler.loading.device import chosen_device
from profiler.loading.feed import FeedDescription
from profiler.loading.iterator import TrainingIterator
from profiler.loading.minio_cache import SharedMinioCache
from profiler.loading.stored_feed import StoredFeed, StoredSamples
from profiler.models.builtin import builtin_model
from profiler.models.builtin_model import BuiltinModel
from profiler.models.training_options import TrainingOptions
from profiler.training.conductor import Conductor
from profiler.training.job_items import batch_size_of, stored_items
from profiler.training.job_specification import JobSpecification
from profiler.training.link import ProfilerLink, profiler_link
from profiler.training.machine import device_name, gpu_uuid, versions
from profiler.training.protocol import OutOfMemory, Ready
from traces.errors import BadInputError, MissingCapabilityError, RoundelayError

Step = Callable[[Any], torch.Tensor]

_LEAST_BATCHES = 2500
"""Of an epoch of made items, as in one of ImageNet in batches of 512. Where an epoch begins, no
batch is there yet and each worker prepares its first one: that would be a good part of a short
epoch, in which no more workers than it has batches would ever have work."""


def run(job: JobSpecification, link: ProfilerLink) -> None:
    """Train until the profiler wants no more, which is a TrainingOverError.

    Raises
    ------
    BadInputError: the model, its options or its data are not as they should be.
    MissingCapabilityError: the device cannot do it.
    """
    model = builtin_model(job.model, job.tiny)
    device = chosen_device(job.device)
    items, batch_size = stored_items(job), batch_size_of(job)
    options = TrainingOptions(job.precision, job.channels_last, job.compile, job.threads)
    step = _built(model, device, options)
    loading = LoadingOptions(
        job.loader,
        batch_size,
        job.seed,
        _start_method(job, device),
        str(device),
        1 if job.data is not None else _passes(len(items) // batch_size),
    )
    with SharedMinioCache(items.length_bytes, 0, job.seed) as cache:
        iterator = TrainingIterator(
            StoredFeed(StoredSamples(items, model.format(), loading), cache, workers=1), device
        )
        conductor = Conductor(link, _Introduction(job, model, options), options.threads)
        iterator.conductor = conductor
        train(step, iterator, conductor)


def train(step: Step, iterator: TrainingIterator, conductor: Conductor) -> None:
    """Epoch after epoch. Where the GPU's memory is not enough, wait for the next allocation."""
    while True:
        shortage = _train_epoch(step, iterator, conductor)
        if shortage is not None:
            torch.cuda.empty_cache()
            conductor.halt(OutOfMemory(shortage))


def _train_epoch(step: Step, iterator: TrainingIterator, conductor: Conductor) -> str | None:
    """What the GPU says where its memory is not enough. The iteration's tensors are gone then."""
    try:
        for batch in iterator:
            conductor.observe_loss(step(batch), iterator.iterations)
    except torch.OutOfMemoryError as error:
        return str(error)
    return None


def _passes(batches: int) -> int:
    """How often an epoch goes through made items, which fill so many batches."""
    return -(-_LEAST_BATCHES // batches)


def _start_method(job: JobSpecification, device: torch.device) -> StartMethod:
    """DALI does not fork once CUDA has begun."""
    if job.start_method is not None:
        return job.start_method
    return "spawn" if job.loader == "dali" and device.type == "cuda" else "fork"


def _built(model: BuiltinModel, device: torch.device, options: TrainingOptions) -> Step:
    try:
        return model.build(device, options)
    except torch.OutOfMemoryError as error:
        raise MissingCapabilityError(
            f"{model.name} does not fit the memory of {device_name(device)}: {error}",
            remedy="choose a smaller model",
        ) from None


@dataclass(frozen=True)
class _Introduction:
    """What is said of the job before its first allocation."""

    job: JobSpecification
    model: BuiltinModel
    options: TrainingOptions

    def __call__(self, feed: FeedDescription, device: torch.device) -> Ready:
        job = self.job
        return Ready(
            model=self.model.name,
            kind=self.model.kind,
            batch_size=feed.batch_size,
            device=str(device),
            device_name=device_name(device),
            loader=feed.loader,
            dataset_items=feed.items,
            dataset_bytes=feed.total_bytes,
            epoch_iterations=feed.epoch_batches,
            skipped=feed.skipped,
            options={
                **asdict(self.options),
                "tiny": job.tiny,
                "source": self.model.source,
                "data": "made" if job.data is None else job.data,
                "seed": job.seed,
                "start_method": _start_method(job, device),
                "gpu_uuid": gpu_uuid(device),
            },
            not_followed=feed.not_followed,
            versions=versions(),
        )


def main() -> int:
    link = profiler_link()
    try:
        if link is None:
            raise BadInputError("no profiler is there to report to", allowed="roundelay profile")
        run(JobSpecification.from_text(" ".join(sys.argv[1:])), link)
    except RoundelayError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
