"""The input pipeline of a worker: read the dataset, keep a cache, prepare items, hand over steps.

One thread reads (``fetcher.py``), others prepare. They share the lock of ``PipelineBooks``, and
each looks at the pause before every piece of work.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
import time
from collections import deque
from dataclasses import dataclass

from emulator.threads import run_or_end
from emulator.training.cpu_work import FILLER, work_of
from emulator.training.epoch_order import items_before, walk
from emulator.training.minio_cache import MinioCache, Sample, capacity_items
from emulator.training.quota_surplus import QuotaSurplus
from emulator.training.shared_progress import SharedProgress, Word
from emulator.training.specification import LoaderSpecification, Pipeline, PipelineShare
from emulator.training.steps import StepCount
from emulator.training.storage_client import StorageClient

STAMP = struct.Struct("=d")  # monotonic seconds at which a step became ready

_LEAST_REQUESTS = 2  # so that one item is under way while the next is asked for


@dataclass(slots=True)
class _Pending:
    """An item that was looked up and is not prepared yet."""

    sample: Sample
    missed: bool


@dataclass(frozen=True, slots=True)
class _Round:
    """From a pause to the next: what the pipeline was held to. used_ns: until it began."""

    cores: float
    length_s: float
    used_ns: int


class InputPipeline:
    """Runs in threads until the process ends. Paused as long as the shared word says so."""

    def __init__(
        self, specification: LoaderSpecification, shared: SharedProgress, ready_descriptor: int
    ) -> None:
        pipeline, share, state = specification.pipeline, specification.share, specification.state
        self._work_kind = specification.work
        self._shared = shared
        self._ready_descriptor = ready_descriptor
        self._pipeline = pipeline
        self._share = share
        self._steps = first_steps(specification)
        self._lock = threading.Lock()
        self._may_prepare = threading.Condition(self._lock)
        self._may_fetch = threading.Condition(self._lock)
        self._preparers: set[int] = set()
        self._pending: deque[_Pending] = deque()
        self._missed_pending = 0
        self._epoch_hits: int | None = None  # None in an epoch that did not begin here
        if pipeline.dataset_items:
            if specification.route is None:
                raise ValueError("a pipeline with a dataset needs a way to its storage")
            self._client = StorageClient(specification.route, pipeline.item_bytes)
            capacity = capacity_items(share.cache_bytes, pipeline.item_bytes)
            self._cache = MinioCache(capacity, state.cached)
            shared.publish_cached(self._cache.index)
            self._looked_up = self._steps.prepared
            self._walk = walk(specification.shuffle_seed, pipeline.dataset_items, self._looked_up)
        self._round: _Round | None = None
        self._surplus = QuotaSurplus()
        self._prepares_from_s = 0.0
        self._used_ns_at_start = time.process_time_ns()
        self._demanded_ns = 0

    def start(self) -> None:
        """Start all threads."""
        with self._lock:
            if self._pipeline.dataset_items:
                run_or_end(self._fetch_forever)
            self._start_preparers()

    def take(self) -> None:
        """The trainer took one step."""
        with self._lock:
            self._steps.take()
            self._hand_over()
            self._wake()

    def resume(self, length_s: float | None) -> None:
        """The trainer ended a pause: see the shared word. length_s: until the next, if known."""
        used_ns = time.process_time_ns()
        with self._lock:
            cores = self._share.cpu_cores
            if self._round is not None:
                self._surplus.end_round(
                    self._round.cores, self._round.length_s, (used_ns - self._round.used_ns) / 1e9
                )
            self._round = _Round(cores, length_s, used_ns) if cores and length_s else None
            self._prepares_from_s = time.monotonic() + (self._surplus.wait_s(cores) if cores else 0)
            self._wake()

    def change(self, pipeline: Pipeline, share: PipelineShare) -> int:
        """Go on with other amounts; how many ready steps were dissolved into items for it."""
        with self._lock:
            if pipeline.dataset_items:
                self._cache.resize(capacity_items(share.cache_bytes, pipeline.item_bytes))
                self._shared.publish_cached(self._cache.index)
            dissolved = self._steps.recut(pipeline.items)
            self._pipeline, self._share = pipeline, share
            self._hand_over()
            self._start_preparers()
            self._wake()
        ctypes.CDLL(None).malloc_trim(0)  # what the cache gave up is another's memory from now on
        return dissolved

    # The rest is called with the lock held, but for what runs in threads.

    def _wake(self) -> None:
        self._may_prepare.notify_all()
        self._may_fetch.notify_all()

    def _start_preparers(self) -> None:
        for number in range(self._share.threads):
            if number not in self._preparers:
                self._preparers.add(number)
                run_or_end(self._prepare_forever, number)

    def _prepare_forever(self, number: int) -> None:
        """All preparers work on the oldest item, so that items are done in order."""
        work = work_of(self._work_kind)
        shared = self._shared
        while True:
            with self._lock:
                while not (sample := self._next_sample()) and number < self._share.threads:
                    self._may_prepare.wait(self._held_back_s)
                if sample is None or number >= self._share.threads:
                    self._preparers.remove(number)
                    return
                done = self._steps.prepared
                due_ns = self._used_ns_at_start + self._demanded_ns + self._item_ns
            data = sample.data or FILLER
            while (used_ns := time.process_time_ns()) < due_ns and not shared[Word.PAUSED]:
                work(data)
            if used_ns >= due_ns:
                with self._lock:
                    if self._steps.prepared == done:
                        self._finish_item(used_ns)

    @property
    def _item_ns(self) -> int:
        return round(self._pipeline.cpu_s_per_item * 1e9)

    @property
    def _held_back_s(self) -> float | None:
        """How long nothing is prepared yet after a pause; None where that is no longer so."""
        left_s = self._prepares_from_s - time.monotonic()
        return left_s if left_s > 0 else None

    def _next_sample(self) -> Sample | None:
        """What to prepare now, if anything."""
        if self._shared[Word.PAUSED] or self._held_back_s or not self._steps.may_prepare:
            return None
        if not self._pipeline.dataset_items:
            return Sample(0)
        if self._pending and self._pending[0].sample.data is not None:
            return self._pending[0].sample
        return None

    def _finish_item(self, used_ns: int) -> None:
        """The process has used the CPU time of all items so far, whatever it used it for."""
        self._steps.prepared += 1
        self._demanded_ns += self._item_ns
        self._shared[Word.PREPARED] += 1
        self._shared[Word.DEMANDED_NS] = self._demanded_ns
        self._shared[Word.CPU_NS] = used_ns - self._used_ns_at_start
        if self._pipeline.dataset_items:
            self._missed_pending -= self._pending.popleft().missed
            self._may_fetch.notify()
        self._hand_over()

    def _hand_over(self) -> None:
        steps = self._steps.hand_over()
        for _ in range(steps):
            os.write(self._ready_descriptor, STAMP.pack(time.monotonic()))

    def _fetch_forever(self) -> None:
        fetched: deque[Sample] = deque()
        while True:
            with self._lock:
                missed = self._look_up()
                while not (fetched or missed) or self._shared[Word.PAUSED]:
                    self._may_fetch.wait()
                    missed += self._look_up()
            if missed:
                self._client.request(sample.item for sample in missed)
                fetched.extend(missed)
            sample = fetched.popleft()
            data = self._read_item()
            with self._lock:
                sample.data = data
                self._shared[Word.FETCHED_BYTES] += len(data)
                self._may_prepare.notify_all()

    def _look_up(self) -> list[Sample]:
        """Look up the next items, as far ahead as they may be; those that have to be fetched."""
        missed: list[Sample] = []
        most_missed = max(self._pipeline.items, _LEAST_REQUESTS)
        while (
            not self._shared[Word.PAUSED]
            and self._looked_up < self._steps.look_ahead
            and self._missed_pending < most_missed
        ):
            position, item = next(self._walk)
            self._looked_up += 1
            if position.item == 0:
                self._epoch_hits = 0
            sample = self._cache.find(item)
            if sample is not None:
                self._pending.append(_Pending(sample, missed=False))
                self._shared[Word.HITS] += 1
                if self._epoch_hits is not None:
                    self._epoch_hits += 1
            else:
                sample = Sample(item)
                self._cache.admit(sample)
                self._pending.append(_Pending(sample, missed=True))
                self._missed_pending += 1
                self._shared[Word.MISSES] += 1
                missed.append(sample)
            if position.item == self._pipeline.dataset_items - 1 and self._epoch_hits is not None:
                self._shared.end_epoch(self._epoch_hits)
        self._shared.publish_cached(self._cache.index)
        self._may_prepare.notify_all()
        return missed

    def _read_item(self) -> bytearray:
        """All of the item that was asked for first. While paused, at most a window arrives."""
        data = bytearray(self._pipeline.item_bytes)
        left = memoryview(data)
        while left:
            self._client.await_piece(len(left))
            if self._shared[Word.PAUSED]:
                with self._lock:
                    while self._shared[Word.PAUSED]:
                        self._may_fetch.wait()
            left = left[self._client.read_piece(left) :]
        return data


def first_steps(specification: LoaderSpecification) -> StepCount:
    """Where a pipeline goes on from its state: the ready items are not prepared again."""
    pipeline, state = specification.pipeline, specification.state
    taken = items_before(state.position, pipeline.dataset_items)
    steps = StepCount(
        pipeline.items, specification.prefetch_steps, taken, taken, taken + state.ready_items
    )
    steps.hand_over()
    return steps
