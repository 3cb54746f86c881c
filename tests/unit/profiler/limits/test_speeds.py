"""Rates and their intervals; speed of storage over real files, and of memory."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from profiler.limits.memory_speed import measure_memory
from profiler.limits.rate_interval import rate_of
from profiler.limits.storage_speed import StorageSpeed, measure_storage
from profiler.limits.transfers import Transfers, joined, transfers_until
from profiler.loading.failure import LoadingError
from profiler.loading.stored_items import StoredItems
from traces.errors import BadInputError

KIB = 2**10


def back_to_back(count: int, each_s: float, each_bytes: float) -> Transfers:
    begun_s = np.arange(count, dtype=np.float64) * np.float64(each_s)
    return Transfers(begun_s, begun_s + each_s, np.full(count, each_bytes))


def test_a_steady_rate_has_no_interval_to_speak_of() -> None:
    rate = rate_of(back_to_back(1000, 0.01, 50), 0.0, 10.0)
    assert rate.bytes_per_s == pytest.approx(5000)
    assert rate.interval_bytes_per_s == pytest.approx((5000, 5000))


def test_transfers_longer_than_a_block_and_beyond_the_end_count_by_their_share() -> None:
    rate = rate_of(back_to_back(3, 4.0, 400), 0.0, 10.0)
    assert rate.bytes_per_s == pytest.approx(100)
    both = joined([back_to_back(3, 4.0, 400), back_to_back(5, 2.0, 100)])
    assert rate_of(both, 0.0, 10.0).bytes_per_s == pytest.approx(150)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        lasting_s = random.exponential(0.01, 4000)
        ended_s = np.cumsum(lasting_s)
        transfers = Transfers(ended_s - lasting_s, ended_s, np.full(4000, 7.0))
        low, high = rate_of(transfers, 0.0, 10.0).interval_bytes_per_s
        held += low <= 700 <= high
    assert 0.9 < held / 200 < 0.99


def test_a_rate_needs_time() -> None:
    with pytest.raises(ValueError, match="time"):
        rate_of(back_to_back(1, 1, 1), 1.0, 1.0)


def test_a_transfer_is_made_even_where_time_is_up() -> None:
    transfers = transfers_until(time.monotonic() - 1, lambda: 5)
    assert transfers.moved_bytes.tolist() == [5.0]
    assert transfers.begun_s[0] <= transfers.ended_s[0]


@pytest.fixture
def items(tmp_path: Path) -> StoredItems:
    """16 files of 64 KiB, of which each holds two items; written back."""
    for index in range(16):
        with (tmp_path / f"{index}.bin").open("wb") as file:
            file.write(os.urandom(64 * KIB))
            file.flush()
            os.fsync(file.fileno())
    return StoredItems(
        paths=tuple(str(tmp_path / f"{index}.bin") for index in range(16)),
        file_of=np.repeat(np.arange(16, dtype=np.int32), 2),
        offset_bytes=np.tile(np.array([0, 20 * KIB]), 16),
        length_bytes=np.tile(np.array([20 * KIB, 44 * KIB]), 16),
        labels=np.zeros(32, dtype=np.int64),
    )


def test_storage_is_read_from_storage_however_often(items: StoredItems) -> None:
    speed = measure_storage(items, readers=3, duration_s=0.3, seed=1)
    assert speed.readers == 3
    assert speed.distinct_items <= min(speed.items_read, 32)
    low, high = speed.interval_bytes_per_s
    assert 0 <= low <= speed.bytes_per_s <= high
    assert 20 * KIB <= speed.bytes_per_s / speed.items_per_s <= 44 * KIB
    assert speed.from_storage_share is not None
    if speed.doubt is None:
        assert speed.from_storage_share < 1.3
    else:  # the tests' files are on a tmpfs
        assert speed.from_storage_share == 0


def test_each_item_is_read_once_before_any_is_read_again(items: StoredItems) -> None:
    many = measure_storage(items, readers=100, duration_s=0.0001, seed=1)
    assert (many.readers, many.distinct_items) == (32, 32)


def test_a_file_that_is_gone_ends_the_measurement(items: StoredItems) -> None:
    for path in items.paths:
        Path(path).unlink()
    with pytest.raises(LoadingError, match="No such file"):
        measure_storage(items, readers=2, duration_s=0.1, seed=1)


def test_what_did_not_come_from_storage_is_doubted() -> None:
    def speed(share: float | None) -> StorageSpeed:
        return StorageSpeed(1.0, (1.0, 1.0), 1.0, 1, 1, 1, share)

    assert speed(1.02).doubt is None
    assert "only 40% of the bytes" in str(speed(0.4).doubt)
    assert "does not tell" in str(speed(None).doubt)


def test_memory_is_copied_by_all_threads() -> None:
    speed = measure_memory(threads=2, block_bytes=100_000, duration_s=0.05, seed=1)
    low, high = speed.interval_bytes_per_s
    assert 0 <= low <= speed.bytes_per_s <= high
    assert speed.bytes_per_s > 1e7
    assert (speed.threads, speed.block_bytes) == (2, 100_000)


@pytest.mark.parametrize("block_bytes", [0, -1, 2**50])
def test_items_that_memory_cannot_hold_are_refused(block_bytes: int) -> None:
    with pytest.raises(BadInputError, match="items of"):
        measure_memory(threads=1, block_bytes=block_bytes, duration_s=0.05, seed=1)
