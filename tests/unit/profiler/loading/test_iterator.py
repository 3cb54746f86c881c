"""The iterator of a training loop: what it times, and where it goes on."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler

from emulator import iterations
from profiler.allocation import Allocation
from profiler.loading.iterator import MOST_TIMINGS, TrainingIterator
from profiler.loading.loader_feed import LoaderFeed
from traces.errors import BadInputError

STEP_S = 0.01


class Numbers(Dataset[int]):
    """Sample i is i."""

    def __len__(self) -> int:
        return 24

    def __getitem__(self, index: int) -> int:
        return index


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(24))


class Reversed(Sampler[int]):
    """Its order is its own affair."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(23, -1, -1))

    def __len__(self) -> int:
        return 24


def _loader(**options: Any) -> DataLoader[int]:
    return DataLoader(Numbers(), batch_size=4, **options)


def _lists(batches: Any) -> list[list[int]]:
    return [batch.tolist() for batch in batches]


def test_each_iteration_is_timed_in_its_parts() -> None:
    def slow() -> Iterator[int]:
        for number in range(3):
            time.sleep(STEP_S)
            yield number

    iterator = TrainingIterator(slow())
    began_s = time.monotonic()
    for _ in iterator:
        time.sleep(2 * STEP_S)
    whole_s = time.monotonic() - began_s
    wait_s, copy_s, compute_s, iteration_s = iterator.timings.T
    assert (wait_s >= STEP_S).all()
    assert (compute_s >= 2 * STEP_S).all()
    assert iteration_s == pytest.approx(wait_s + copy_s + compute_s)
    assert iteration_s.sum() <= whole_s
    assert iterator.iterations == 3


def test_without_a_loop_there_are_no_timings() -> None:
    assert TrainingIterator([]).timings.shape == (0, 4)


def test_timings_are_kept_up_to_a_limit() -> None:
    iterator = TrainingIterator(range(MOST_TIMINGS + 100))
    for _ in iterator:
        pass
    assert len(iterator.timings) == MOST_TIMINGS
    assert iterator.iterations == MOST_TIMINGS + 100


def test_it_is_used_as_the_loader_is() -> None:
    loader = _loader()
    iterator = TrainingIterator(loader)
    assert len(iterator) == len(loader)
    assert iterator.dataset is loader.dataset
    with pytest.raises(AttributeError):
        _ = iterator.no_such_thing
    assert _lists(iterator) == _lists(loader)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_shuffled_loader_has_the_order_that_it_has_alone(workers: int) -> None:
    epochs = []
    for wrapped in (lambda loader: loader, TrainingIterator):
        torch.manual_seed(3)
        batches = wrapped(_loader(shuffle=True, num_workers=workers))
        epochs.append([_lists(batches) for _ in range(3)])
    assert epochs[0] == epochs[1]
    assert epochs[0][0] != epochs[0][1]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stopped_after", [1, 4, 5, 9])
def test_a_job_goes_on_at_the_same_sample(workers: int, stopped_after: int) -> None:
    def batches(iterator: TrainingIterator) -> Iterator[list[int]]:
        while True:
            for batch in iterator:
                yield batch.tolist()

    torch.manual_seed(3)
    whole = list(islice(batches(TrainingIterator(_loader(shuffle=True))), 12))

    torch.manual_seed(3)
    first = TrainingIterator(_loader(shuffle=True, num_workers=workers))
    before = list(islice(batches(first), stopped_after))
    state = first.state_dict()

    torch.manual_seed(4)
    second = TrainingIterator(_loader(shuffle=True, num_workers=workers))
    second.load_state_dict(state)
    after = islice(batches(second), 6 - stopped_after % 6)
    assert before + list(after) == whole[: stopped_after + 6 - stopped_after % 6]


def test_stopping_a_loop_ends_the_epoch_as_with_a_loader() -> None:
    iterator = TrainingIterator(_loader())
    for _ in iterator:
        break
    assert iterator.state_dict()["epoch"] == 0
    assert iterator.state_dict()["next_batch"] == 1
    assert _lists(iterator) == _lists(_loader())
    assert iterator.state_dict() == {"epoch": 2, "next_batch": 0, "feed": {"shuffle_seed": None}}


def test_any_iterable_goes_on_by_leaving_the_first_batches_out() -> None:
    iterator = TrainingIterator(["a", "b", "c"])
    iterator.load_state_dict({"epoch": 3, "next_batch": 2, "feed": {}})
    assert list(iterator) == ["c"]
    assert list(iterator) == ["a", "b", "c"]


def test_an_order_that_cannot_be_had_again_is_refused() -> None:
    iterator = TrainingIterator(_loader(sampler=Reversed()))
    next(iter(iterator))
    state = iterator.state_dict()
    with pytest.raises(BadInputError, match="Reversed"):
        TrainingIterator(_loader(sampler=Reversed())).load_state_dict(state)


def test_what_is_no_state_is_refused() -> None:
    with pytest.raises(BadInputError, match="state_dict"):
        TrainingIterator([]).load_state_dict({"epoch": 1})


def test_iterations_count_in_an_emulated_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as counter:
        counter.bind(str(tmp_path / "count"))
        counter.setblocking(False)
        monkeypatch.setenv(iterations.SOCKET_VARIABLE, str(tmp_path / "count"))
        monkeypatch.delenv("LOCAL_RANK", raising=False)
        iterations._connection.cache_clear()
        for _ in TrainingIterator(range(3)):
            pass
        iterations._connection.cache_clear()
        assert [counter.recv(64) for _ in range(3)] == [b"1"] * 3


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_change_inside_an_epoch_and_each_sample_comes_once(persistent: bool) -> None:
    feed = LoaderFeed(_loader(shuffle=True, num_workers=1, persistent_workers=persistent))
    batches = feed.open(0, 0)
    got = [next(batches).tolist(), next(batches).tolist()]
    del batches
    assert feed.follow(Allocation(1.0, 0), fill=True).workers == 2
    got += _lists(feed.open(0, 2))
    assert sorted(sample for batch in got for sample in batch) == list(range(24))
    assert sorted(sample for batch in feed.open(1, 0) for sample in batch.tolist()) == list(
        range(24)
    )


def test_a_loader_without_workers_stays_so_and_says_it() -> None:
    feed = LoaderFeed(_loader())
    assert feed.follow(Allocation(2.0, 0), fill=True).workers == 0
    assert feed.describe().not_followed.keys() == {"workers", "memory"}
    assert feed.describe().items == 24
    assert feed.describe().batch_size == 4


def test_the_stream_of_an_iterable_dataset_begins_anew_under_another_allocation() -> None:
    feed = LoaderFeed(DataLoader(Stream(), batch_size=4))
    batches = feed.open(0, 0)
    next(batches)
    feed.follow(Allocation(1.0, 0), fill=True)
    assert next(feed.open(0, 1)).tolist() == [0, 1, 2, 3]
    assert feed.describe().items is None
    fresh = LoaderFeed(DataLoader(Stream(), batch_size=4))
    assert next(fresh.open(2, 1)).tolist() == [4, 5, 6, 7]


def test_a_sampler_without_batches_and_options_of_a_loader_are_kept() -> None:
    loader = DataLoader(
        Numbers(), batch_size=None, num_workers=1, collate_fn=lambda sample: -sample
    )
    feed = LoaderFeed(loader)
    batches = feed.open(0, 0)
    assert [next(batches) for _ in range(3)] == [0, -1, -2]
    del batches
    feed.follow(Allocation(1.0, 0), fill=True)
    assert list(feed.open(0, 3)) == [-number for number in range(3, 24)]
