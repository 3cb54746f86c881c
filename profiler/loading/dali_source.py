"""Batches from NVIDIA DALI: its Python workers read, its threads (or the GPU) decode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from profiler.loading.cached_items import CachedItems
from profiler.loading.dali_workers import end_workers, watched_workers
from profiler.loading.encoded_items import EncodedItems
from profiler.loading.epoch_order import EpochOrder
from profiler.loading.failure import LoadingError
from profiler.loading.minio_cache import SharedMinioCache
from profiler.loading.sample_format import SampleFormat
from profiler.loading.stored_items import StoredItems
from traces.errors import BadInputError, MissingCapabilityError

try:
    from nvidia.dali import fn, types
    from nvidia.dali.pipeline import Pipeline
except ImportError as error:
    raise MissingCapabilityError(
        f"NVIDIA DALI does not load: {error}", remedy="pip install nvidia-dali-cuda120"
    ) from error

if TYPE_CHECKING:
    from profiler.loading.batches import LoadingOptions

_Batch = tuple[torch.Tensor, ...]

_READ_AHEAD = 2  # batches


class DaliSource:
    """See BatchSource. Batches are (images: float32[batch, 3, crop, crop], labels: int64[batch]).

    The pipeline and its workers go on from one epoch to the next; any other step (an epoch that was
    given up, a first batch) starts them anew. DALI augments with random numbers of its own, in
    the order of the samples: the same for any number of workers and threads, but other ones where
    an epoch is begun in its middle.
    """

    def __init__(
        self,
        items: StoredItems,
        sample_format: SampleFormat,
        options: LoadingOptions,
        workers: int,
        cache: SharedMinioCache,
    ) -> None:
        if sample_format.dali is None:
            raise BadInputError("DALI does not decode these samples", allowed="the loader torch")
        if options.start_method == "forkserver":
            raise BadInputError("DALI knows no fork server", allowed="spawn or fork")
        if options.start_method == "fork" and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            raise BadInputError("DALI does not fork after CUDA has begun", allowed="spawn")
        self._image = sample_format.dali
        self._options = options
        self._workers = workers
        self._items = CachedItems(items, cache)
        self._order = EpochOrder(
            len(items), options.batch_size, options.shuffle_seed, options.passes
        )
        self.batches_per_epoch = self._order.batches_per_epoch
        self.dropped_items = self._order.dropped_items
        self._pipeline: Pipeline | None = None
        self._next = (0, 0)  # epoch and batch that the pipeline makes next

    def epoch(self, epoch: int, first_batch: int = 0) -> Iterator[_Batch]:
        if self._pipeline is None or self._next != (epoch, first_batch):
            self.close()
            self._pipeline = self._build(epoch, first_batch)
        pipeline = self._pipeline
        for batch in range(first_batch, self.batches_per_epoch):
            made = self._run(pipeline)
            if made is None:
                raise LoadingError(f"DALI ended epoch {epoch} before batch {batch}")
            if batch + 1 < self.batches_per_epoch:
                self._next = (epoch, batch + 1)
            else:
                self._next = (epoch + 1, 0)
                self._end_epoch(pipeline)
            yield made

    def close(self) -> None:
        if self._pipeline is not None:
            end_workers(self._pipeline)
            # Were it left to the garbage collector of a forked process, that would wait for threads
            # that it does not have.
            self._pipeline._shutdown()  # type: ignore[no-untyped-call]
            self._pipeline = None

    def _run(self, pipeline: Pipeline) -> _Batch | None:
        """The next batch; None at the end of the epoch."""
        try:
            # On a GPU, in the order of the stream that uses the batch: only when that is done with
            # it may DALI use its memory again.
            with watched_workers(pipeline):
                outputs = pipeline.run(torch.cuda.current_stream() if self._on_gpu else None)
        except StopIteration:
            return None
        except LoadingError:
            raise
        except Exception as error:
            raise LoadingError(f"DALI: {_what_happened(error)}") from error
        return tuple(torch.utils.dlpack.from_dlpack(output.as_tensor()) for output in outputs)

    def _end_epoch(self, pipeline: Pipeline) -> None:
        if self._run(pipeline) is not None:
            raise LoadingError("DALI made more batches than the epoch has")
        pipeline.reset()  # type: ignore[no-untyped-call]

    def _build(self, epoch: int, first_batch: int) -> Pipeline:
        options, image = self._options, self._image
        seed = np.random.SeedSequence([options.shuffle_seed, epoch, first_batch]).generate_state(1)
        pipeline = Pipeline(  # type: ignore[no-untyped-call]
            batch_size=options.batch_size,
            num_threads=self._workers,
            device_id=self._device_id(),
            seed=int(seed[0]),
            py_num_workers=self._workers,
            py_start_method=options.start_method,
        )
        with pipeline:
            encoded, labels = fn.external_source(
                source=EncodedItems(self._items, self._order, epoch, first_batch),
                num_outputs=2,
                batch=False,
                parallel=True,
                prefetch_queue_depth=_READ_AHEAD,
                dtype=[types.DALIDataType.UINT8, types.DALIDataType.INT64],
                ndim=[1, 0],
            )
            images = fn.decoders.image(encoded, device="mixed" if self._on_gpu else "cpu")
            images = fn.random_resized_crop(images, size=[image.crop_pixels, image.crop_pixels])
            images = fn.crop_mirror_normalize(
                images,
                dtype=types.DALIDataType.FLOAT,
                output_layout="CHW",
                mean=[255 * channel for channel in image.mean],
                std=[255 * channel for channel in image.std],
                mirror=fn.random.coin_flip(),
            )
            # As they are, labels would lie in memory that the workers write to again.
            labels = labels.gpu() if self._on_gpu else fn.copy(labels)
            pipeline.set_outputs(images, labels)  # type: ignore[no-untyped-call]
        pipeline.build()  # type: ignore[no-untyped-call]
        return pipeline

    @property
    def _on_gpu(self) -> bool:
        return torch.device(self._options.device).type == "cuda"

    def _device_id(self) -> int | None:
        if not self._on_gpu:
            return None
        index = torch.device(self._options.device).index
        return torch.cuda.current_device() if index is None else index


def _what_happened(error: Exception) -> str:
    """Of an error that quotes tracebacks: a worker's has the plain one as its cause, and one of
    DALI's own tells it between the lines of the pipeline and the addresses of its stack."""
    if error.__cause__ is not None:
        return str(error.__cause__)
    told = str(error).partition("encountered:")[2].partition("Current pipeline")[0].strip()
    return told or str(error)
