"""Between a training loop and the profiler process: reports, and the allocations to go on with."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from profiler.allocation import Allocation
from profiler.loading.event_clock import IterationTimes
from profiler.loading.feed import Feed, FeedDescription
from profiler.loading.minio_cache import CacheCounts
from profiler.training.link import ProfilerLink
from profiler.training.loss_watch import LossWatch
from profiler.training.protocol import (
    Allocate,
    Allocated,
    Ended,
    Event,
    Iterations,
    NotFinite,
    Ready,
    Refused,
)
from traces.errors import BadInputError

_REPORT_EACH_S = 0.2
_REPORT_AT_MOST = 64  # iterations

Introduce = Callable[[FeedDescription, torch.device], Ready]


class Conductor:
    """Tells a training loop when to stand still and what to go on with, and speaks for it.

    introduce: from the loop's feed and the device that computes to what is said of them before the
        first allocation.
    most_threads: of the training process itself, for its part of computing and loading.
    """

    def __init__(self, link: ProfilerLink, introduce: Introduce, most_threads: int) -> None:
        self._link = link
        self._introduce = introduce
        self._most_threads = most_threads
        self._feed: Feed | None = None
        self._batch_size: int | None = None
        self._current: Allocate | None = None
        self._next: Allocate | None = None
        self._times: list[IterationTimes] = []
        self._epoch = 0
        self._reported_s = 0.0
        self._before = CacheCounts()
        self._losses: LossWatch | None = None
        self._was_finite = True

    @property
    def is_engaged(self) -> bool:
        """Whether it speaks for a loop yet."""
        return self._feed is not None

    def has_news(self, feed: Feed) -> bool:
        """Whether the loop of ``feed`` has to stand still now. Asked between any two iterations."""
        if self._current is None or self._feed is not feed:
            return True
        self._next = self._link.poll()
        return self._next is not None

    def halt(self, why: Event) -> None:
        """The loop cannot go on before another allocation has come."""
        self.flush()
        self._link.send(why)
        self._current = None

    def stand_still(self, feed: Feed, device: torch.device) -> bool:
        """Returns when ``feed`` has taken an allocation, and the loop may go on.

        That is the one that has come, the next one, or, where a loop with another feed takes over
        from the one before, the same as that had. The result says whether one batch is to be used
        over and over, so that nothing is loaded.

        Raises
        ------
        LoadingError: the cache cannot be filled.
        """
        self.flush()
        if self._feed is None:
            description = feed.describe()
            self._batch_size = description.batch_size
            self._link.send(self._introduce(description, device))
        if self._feed is not None and self._current is not None and self._next is None:
            self._before = self._counts(self._feed)
            feed.follow(_allocation(self._current), self._current.fill)
            self._feed = feed
        else:
            self._feed, self._current = feed, None
            while self._current is None:
                self._take(self._next or self._link.wait(), feed)
        return self._current.source == "synthetic"

    def _counts(self, feed: Feed) -> CacheCounts:
        """Since the allocation: of ``feed``, and of those before it."""
        before, own = self._before, feed.counts()
        return CacheCounts(
            before.hits + own.hits,
            before.misses + own.misses,
            before.fetched_bytes + own.fetched_bytes,
        )

    def _take(self, wanted: Allocate, feed: Feed) -> None:
        """Let ``feed`` follow ``wanted``, and say so; or why it cannot."""
        self._next = None
        try:
            served = feed.follow(_allocation(wanted), wanted.fill)
        except BadInputError as error:
            self._link.send(Refused(str(error)))
            return
        threads = min(self._most_threads, max(1, int(wanted.cpus)))
        torch.set_num_threads(threads)
        self._current, self._was_finite, self._before = wanted, True, CacheCounts()
        self._reported_s = time.monotonic()
        self._link.send(
            Allocated(
                workers=served.workers,
                threads=threads,
                cached_items=served.cached_items,
                cached_bytes=served.cached_bytes,
                cpus=wanted.cpus,
            )
        )

    def report(self, times: list[IterationTimes], epoch: int) -> None:
        """Of iterations in ``epoch`` that the device has finished. Sent many at a time."""
        if self._current is None:
            return  # of no allocation
        if epoch != self._epoch:
            self.flush()
            self._epoch = epoch
        self._times += times
        is_full = len(self._times) >= _REPORT_AT_MOST
        if is_full or time.monotonic() - self._reported_s >= _REPORT_EACH_S:
            self.flush()

    def flush(self) -> None:
        """Send what has not been sent."""
        self._reported_s = time.monotonic()
        if not self._times or self._feed is None:
            return
        counts = self._counts(self._feed)
        self._link.send(
            Iterations(
                records=self._times,
                samples_per_iteration=self._batch_size,
                epoch=self._epoch,
                hits=counts.hits,
                misses=counts.misses,
                fetched_bytes=counts.fetched_bytes,
            )
        )
        self._times = []

    def observe_loss(self, loss: torch.Tensor, iteration: int) -> None:
        """Says once an allocation that a loss is not finite."""
        if self._current is None:
            return
        if self._losses is None:
            self._losses = LossWatch(loss.device)
        bad = self._losses.observe(loss, iteration)
        if bad is not None and self._was_finite:
            self._link.send(NotFinite(bad))
            self._was_finite = False

    def end(self, ended: Ended) -> None:
        """Training has ended by itself."""
        self.flush()
        self._link.send(ended)


def _allocation(wanted: Allocate) -> Allocation:
    return Allocation(wanted.cpus, wanted.cache_bytes)
