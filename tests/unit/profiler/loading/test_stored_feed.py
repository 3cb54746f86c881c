"""A job on stored items goes on at the same sample, with the same items in its cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from profiler.allocation import Allocation
from profiler.loading.batches import LoadingOptions
from profiler.loading.iterator import TrainingIterator
from profiler.loading.minio_cache import SharedMinioCache
from profiler.loading.sample_format import DaliImage
from profiler.loading.stored_feed import StoredFeed, StoredSamples
from tests.unit.profiler.loading.files import one_file
from traces.errors import BadInputError

LENGTHS = [10 + number for number in range(12)]


@dataclass(frozen=True)
class Labels:
    """The label tells the item."""

    dali: DaliImage | None = None

    def decode(
        self, data: bytes | memoryview, label: int, random: np.random.Generator
    ) -> tuple[torch.Tensor, ...]:
        return (torch.tensor(label),)


@dataclass
class Job:
    feed: StoredFeed
    cache: SharedMinioCache

    def iterator(self) -> TrainingIterator:
        return TrainingIterator(self.feed)


class Jobs:
    def __init__(self, path: Path) -> None:
        self._items, _ = one_file(path, LENGTHS)
        self._made: list[Job] = []

    def new(self, seed: int = 5, cache_seed: int = 5) -> Job:
        loading = LoadingOptions("torch", 3, seed, "fork", "cpu")
        cache = SharedMinioCache(self._items.length_bytes, 0, cache_seed)
        feed = StoredFeed(StoredSamples(self._items, Labels(), loading), cache, workers=1)
        self._made.append(Job(feed, cache))
        return self._made[-1]

    def close(self) -> None:
        for job in self._made:
            job.feed.close()
            job.cache.close()


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    jobs = Jobs(tmp_path / "items")
    yield jobs
    jobs.close()


def _labels(batches: Iterator[tuple[torch.Tensor]]) -> list[list[int]]:
    return [labels.tolist() for (labels,) in batches]


def test_a_job_goes_on_at_the_same_sample_with_the_same_cache(jobs: Jobs) -> None:
    first, whole = jobs.new(), jobs.new().iterator()
    epochs = [_labels(iter(whole)) for _ in range(2)]
    served = first.feed.follow(Allocation(1.0, 100), fill=True)
    assert first.cache.filled_bytes == served.cached_bytes
    iterator = first.iterator()
    batches = iter(iterator)
    before = [next(batches)[0].tolist() for _ in range(3)]
    state = iterator.state_dict()

    second = jobs.new()
    resumed = second.iterator()
    resumed.load_state_dict(state)
    assert (second.cache.held == first.cache.held).all()
    assert before + _labels(iter(resumed)) == epochs[0]
    assert _labels(iter(resumed)) == epochs[1]


def test_hits_are_counted_from_the_allocation_on(jobs: Jobs) -> None:
    job = jobs.new()
    _labels(iter(job.iterator()))
    served = job.feed.follow(Allocation(1.0, 100), fill=True)
    assert job.feed.counts().misses == 0
    _labels(iter(job.iterator()))
    counts = job.feed.counts()
    assert (counts.hits, counts.misses) == (served.cached_items, 12 - served.cached_items)
    assert counts.fetched_bytes == sum(LENGTHS) - served.cached_bytes


def test_a_state_of_other_samples_is_refused(jobs: Jobs) -> None:
    job = jobs.new()
    job.feed.follow(Allocation(1.0, 100), fill=False)
    state = job.iterator().state_dict()
    with pytest.raises(BadInputError, match="shuffle seed 5"):
        jobs.new(seed=6).iterator().load_state_dict(state)
    other = jobs.new(cache_seed=6)
    with pytest.raises(BadInputError, match="other items"):
        other.iterator().load_state_dict(state)
    assert other.cache.budget_bytes == 0


def test_what_it_is_and_has(jobs: Jobs) -> None:
    description = jobs.new().feed.describe()
    assert (description.loader, description.batch_size) == ("torch", 3)
    assert (description.items, description.total_bytes) == (12, sum(LENGTHS))
    assert len(jobs.new().feed) == 4
