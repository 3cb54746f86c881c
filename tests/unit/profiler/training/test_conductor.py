"""A training loop and the profiler, over a real socket: allocations, reports, what goes wrong."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from emulator.messages import MessageSocket
from profiler.allocation import Allocation
from profiler.loading.feed import FeedDescription, PlainFeed, Served
from profiler.loading.iterator import TrainingIterator
from profiler.loading.minio_cache import CacheCounts
from profiler.training.builtin_job import train
from profiler.training.conductor import Conductor
from profiler.training.link import ProfilerLink, TrainingOverError
from profiler.training.protocol import (
    Allocate,
    Allocated,
    Command,
    End,
    Ended,
    Event,
    Iterations,
    NotFinite,
    OutOfMemory,
    Ready,
    Refused,
    command_message,
    parse_event,
)
from traces.errors import BadInputError


@dataclass
class Profiler:
    """The other end."""

    messages: MessageSocket
    link: ProfilerLink

    def send(self, *commands: Command) -> None:
        for command in commands:
            self.messages.send(command_message(command))

    def heard(self) -> list[Event]:
        """All that was said; it must be something."""
        received = list(self.messages.receive_ready())
        return [parse_event(message) for message in received if message is not None]


@pytest.fixture
def profiler() -> Iterator[Profiler]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Profiler(MessageSocket(ours), ProfilerLink(theirs))


@dataclass
class Feed(PlainFeed):
    """Three batches an epoch. Caches up to 100 bytes; each allocation finds more hits."""

    followed: list[Allocation] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__([torch.zeros(2), torch.ones(2), torch.ones(2)])

    def follow(self, allocation: Allocation, fill: bool) -> Served:
        if allocation.cache_bytes > 100:
            raise BadInputError("too large", allowed="up to 100 bytes")
        self.followed.append(allocation)
        return Served(2, 1, allocation.cache_bytes)

    def counts(self) -> CacheCounts:
        return CacheCounts(hits=5, misses=6, fetched_bytes=7)


def _introduced(feed: FeedDescription, device: torch.device) -> Ready:
    return Ready("toy", "image", 2, str(device), "here", feed.loader, None, None)


def _conducted(profiler: Profiler, feed: Any = None) -> tuple[TrainingIterator, Conductor]:
    iterator = TrainingIterator(Feed() if feed is None else feed, "cpu")
    conductor = Conductor(profiler.link, _introduced, most_threads=1)
    iterator.conductor = conductor
    return iterator, conductor


def test_a_loop_waits_for_its_allocation_and_reports_under_it(profiler: Profiler) -> None:
    feed = Feed()
    iterator, _ = _conducted(profiler, feed)
    profiler.send(Allocate(1.5, 40))
    assert len(list(iterator)) == 3
    ready, allocated, iterations = profiler.heard()
    assert ready == Ready("toy", "image", 2, "cpu", "here", "list", None, None)
    assert allocated == Allocated(workers=2, threads=1, cached_items=1, cached_bytes=40, cpus=1.5)
    assert isinstance(iterations, Iterations)
    assert len(iterations.records) == 3
    for wait_s, copy_s, compute_s, iteration_s in iterations.records:
        assert iteration_s == pytest.approx(wait_s + copy_s + compute_s)
    assert (iterations.hits, iterations.misses, iterations.fetched_bytes) == (5, 6, 7)
    assert feed.followed == [Allocation(1.5, 40)]


def test_an_allocation_takes_effect_at_the_next_iteration(profiler: Profiler) -> None:
    feed = Feed()
    iterator, _ = _conducted(profiler, feed)
    profiler.send(Allocate(1.0, 0))
    for number, _ in enumerate(iterator):
        if number == 0:
            profiler.send(Allocate(2.0, 50))
        assert len(feed.followed) == (1 if number == 0 else 2)
    _, first, one, second, two = profiler.heard()
    assert isinstance(first, Allocated)
    assert isinstance(second, Allocated)
    assert isinstance(one, Iterations)
    assert isinstance(two, Iterations)
    assert (first.cpus, second.cpus) == (1.0, 2.0)
    assert (len(one.records), len(two.records)) == (1, 2)


def test_an_allocation_that_cannot_be_had_is_refused_and_the_next_is_taken(
    profiler: Profiler,
) -> None:
    class Refusing(Feed):
        def follow(self, allocation: Allocation, fill: bool) -> Served:
            if not self.followed and allocation.cache_bytes > 100:
                profiler.send(Allocate(1.0, 40))  # what the profiler tries next
            return super().follow(allocation, fill)

    iterator, _ = _conducted(profiler, Refusing())
    profiler.send(Allocate(1.0, 101))
    assert len(list(iterator)) == 3
    _, refused, allocated, _ = profiler.heard()
    assert refused == Refused("too large; allowed: up to 100 bytes")
    assert isinstance(allocated, Allocated)
    assert allocated.cached_bytes == 40


def test_one_batch_is_used_over_and_over_when_nothing_is_to_be_loaded(profiler: Profiler) -> None:
    iterator, _ = _conducted(profiler)
    profiler.send(Allocate(1.0, 0, source="synthetic"))
    batches = iter(iterator)
    got = [next(batches) for _ in range(10)]
    assert all(batch is got[0] for batch in got)
    profiler.send(Allocate(1.0, 0))
    assert len(list(batches)) == 3


def test_the_end_comes_between_two_iterations(profiler: Profiler) -> None:
    iterator, _ = _conducted(profiler)
    profiler.send(Allocate(1.0, 0))
    batches = iter(iterator)
    next(batches)
    profiler.send(End())
    with pytest.raises(TrainingOverError):
        next(batches)
    assert iterator.iterations == 1


def test_a_profiler_that_is_gone_ends_the_training(profiler: Profiler) -> None:
    iterator, conductor = _conducted(profiler)
    profiler.send(Allocate(1.0, 0))
    batches = iter(iterator)
    next(batches)
    profiler.messages.close()
    with pytest.raises(TrainingOverError) as over:
        next(batches)
    assert over.value.code == 0
    with pytest.raises(TrainingOverError):
        conductor.end(Ended(1))


def test_training_outlives_a_gpu_without_memory(profiler: Profiler) -> None:
    iterator, conductor = _conducted(profiler)
    steps = 0

    def step(batch: torch.Tensor) -> torch.Tensor:
        nonlocal steps
        steps += 1
        if steps == 2:
            profiler.send(Allocate(2.0, 0))
            raise torch.OutOfMemoryError("tried to allocate 3 GiB")
        if steps == 6:  # in the epoch after
            profiler.send(End())
        return batch.sum()

    profiler.send(Allocate(1.0, 0))
    with pytest.raises(TrainingOverError):
        train(step, iterator, conductor)
    events = profiler.heard()
    assert OutOfMemory("tried to allocate 3 GiB") in events
    after = events[events.index(OutOfMemory("tried to allocate 3 GiB")) + 1 :]
    assert isinstance(after[0], Allocated)
    assert after[0].cpus == 2.0
    assert sum(len(event.records) for event in after if isinstance(event, Iterations)) == 3


def test_a_loss_that_is_not_finite_is_said_once_an_allocation(profiler: Profiler) -> None:
    iterator, conductor = _conducted(profiler)
    losses = [1.0, float("nan"), float("nan"), 1.0, float("inf"), 1.0]
    profiler.send(Allocate(1.0, 0))
    for _ in range(2):
        for _ in iterator:
            if iterator.iterations == 2:
                profiler.send(Allocate(2.0, 0))
            loss = torch.tensor(losses[iterator.iterations])
            conductor.observe_loss(loss, iterator.iterations)
    said = [event for event in profiler.heard() if isinstance(event, NotFinite)]
    assert [event.iteration for event in said] == [1, 4]


def test_another_loop_takes_over_under_the_same_allocation(profiler: Profiler) -> None:
    first, second = Feed(), Feed()
    iterator, conductor = _conducted(profiler, first)
    profiler.send(Allocate(2.0, 50))
    list(iterator)
    later = TrainingIterator(second)
    later.conductor = conductor
    list(later)
    assert second.followed == first.followed == [Allocation(2.0, 50)]
    events = profiler.heard()
    assert [type(event) for event in events] == [Ready, Allocated, Iterations, Iterations]
    last = events[-1]
    assert isinstance(last, Iterations)
    assert (last.hits, last.misses, last.fetched_bytes) == (10, 12, 14)
