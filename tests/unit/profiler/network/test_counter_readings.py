"""From readings of counters to bytes over time: wraps, gaps, and adapters that look anew late."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from profiler.network.counted_devices import count_devices, sum_of
from profiler.network.counter_process import NOT_READ
from profiler.network.counter_readings import Readings, by_intervals, summed
from profiler.network.device_counters import CountedDevice
from traces.load_series import LoadSeries

MS = 1e-3


def device(
    name: str = "eth0",
    unit_bytes: int = 1,
    refresh_s: float | None = None,
    *,
    is_physical: bool = False,
    lower: tuple[str, ...] = (),
    netdev: str | None = None,
) -> CountedDevice:
    return CountedDevice(
        name, Path(), Path(), unit_bytes, refresh_s, is_physical=is_physical, lower=lower,
        netdev=netdev,
    )  # fmt: skip


def readings(times_ms: list[float], *sent: list[int]) -> Readings:
    """sent: the counts of each device; it receives as much."""
    counts = [[(count, count) for count in each] for each in sent]
    array = np.array(counts, dtype=np.uint64).transpose(1, 0, 2)
    return Readings(np.array(times_ms) * MS, array, MS)


def series_of(readings: Readings, of: CountedDevice) -> LoadSeries:
    series = readings.series(0, of)
    assert series is not None
    return series


def test_bytes_between_readings() -> None:
    found = readings([0, 1, 2, 4], [1000, 1100, 1100, 1400])
    series = series_of(found, device())
    assert series.sent_bytes.tolist() == [100, 0, 300]
    assert series.received_bytes is not None
    assert series.received_bytes.tolist() == [100, 0, 300]
    assert series.edges_s.tolist() == [0, 0.001, 0.002, 0.004]
    assert found.rate_hz == pytest.approx(750)


def test_units_of_four_octets_and_a_counter_that_wraps() -> None:
    series = series_of(readings([0, 1, 2], [2**64 - 10, 2**64 - 2, 6]), device(unit_bytes=4))
    assert series.sent_bytes.tolist() == [32, 32]
    assert series.notes == ()


def test_a_counter_that_was_reset_leaves_a_gap() -> None:
    series = series_of(readings([0, 1, 2, 3], [5000, 6000, 10, 20]), device())
    assert np.array_equal(series.sent_bytes, [1000, np.nan, 10], equal_nan=True)
    assert series.notes == ("intervals in which the counter went back, taken as gaps: 1",)


def test_what_was_missed_for_long_is_a_gap() -> None:
    series = series_of(readings([0, 1, 2, 4, 5, 15, 16], [0, 1, 2, 4, 5, 15, 16]), device())
    assert np.array_equal(series.sent_bytes, [1, 1, 2, 1, np.nan, 1], equal_nan=True)


def test_a_reading_that_is_no_number_is_left_out_and_said() -> None:
    series = series_of(readings([0, 1, 2, 3], [0, NOT_READ, 30, 40]), device())
    assert series.sent_bytes.tolist() == [30, 10]
    assert series.notes == ("readings that were no number: 1",)
    gone = readings([0, 1, 2], [7, NOT_READ, NOT_READ])
    assert gone.series(0, device()) is None


def test_a_full_counter_of_32_bits_is_said() -> None:
    series = series_of(readings([0, 1, 2], [2**32 - 100, 2**32 - 1, 2**32 - 1]), device("i/1", 4))
    (note,) = series.notes
    assert note.startswith("a counter of 32 bits is full")


REFRESH_MS = 10


def refreshed(times_ms: NDArray[np.float64], true: NDArray[np.int64]) -> list[int]:
    """What an adapter shows that looks anew at the first reading 10 ms after it last did."""
    shown, last = [], -np.inf
    for time_ms, count in zip(times_ms, true, strict=True):
        if time_ms - last >= REFRESH_MS:
            value, last = int(count), time_ms
        shown.append(value)
    return shown


def test_readings_within_a_refresh_are_merged() -> None:
    """A burst of 60 ms in 200 ms at 4,000 bytes/ms never looks like more than its rate."""
    times_ms = np.arange(0, 2000, 1.0)
    phase = times_ms % 200
    true = (np.floor(times_ms / 200) * 60 + np.minimum(phase, 60)).astype(np.int64) * 1000
    found = readings(times_ms.tolist(), refreshed(times_ms, true))
    series = series_of(found, device("mlx5_0/1", 4, REFRESH_MS * MS))
    rates = series.sent_bytes / np.diff(series.edges_s)
    assert rates.max() <= 4e6 * 1.01
    assert np.diff(series.edges_s).min() >= 0.8 * REFRESH_MS * MS
    assert np.diff(series.edges_s).max() <= 2.1 * REFRESH_MS * MS
    assert float(series.sent_bytes.sum()) == pytest.approx(10 * 60_000 * 4, rel=0.02)
    # In the middle of every pause the rate is zero, and in that of every burst it is the burst's.
    until = np.append(0, np.cumsum(series.sent_bytes))
    for start_s in np.arange(0.2, 1.8, 0.2):
        burst = np.diff(np.interp([start_s + 0.02, start_s + 0.05], series.edges_s, until))[0]
        pause = np.diff(np.interp([start_s + 0.09, start_s + 0.19], series.edges_s, until))[0]
        assert burst == pytest.approx(30 * 4000, rel=0.01)
        assert pause == 0


def test_an_adapter_that_always_looks_is_read_as_it_is() -> None:
    times_ms = np.arange(0, 100, 1.0)
    found = readings(times_ms.tolist(), (times_ms.astype(int) * 50).tolist())
    series = series_of(found, device("mlx5_0/1", 4, REFRESH_MS * MS))
    assert len(series.sent_bytes) == 99
    assert set(series.sent_bytes.tolist()) == {200}


def test_counters_that_change_seldom_are_said() -> None:
    times_ms = np.arange(0, 1000, 1.0)
    found = readings(times_ms.tolist(), (times_ms.astype(int) // 25 * 1000).tolist())
    (note,) = series_of(found, device()).notes
    assert note.startswith("its counters never changed twice within 25 ms")


def test_a_sum_has_the_gaps_of_each() -> None:
    one = LoadSeries(np.arange(5.0), np.array([1.0, np.nan, 3.0, 4.0]), None, "eth0")
    other = LoadSeries(np.array([1.0, 3.0, 5.0]), np.array([20.0, 40.0]), None, "mlx5_0/1")
    total = summed([one, other])
    assert total.edges_s.tolist() == [1.0, 3.0]
    assert np.isnan(total.sent_bytes).all()
    assert total.source == "eth0 + mlx5_0/1"
    split = by_intervals(one.edges_s, one.sent_bytes, np.array([2.0, 2.5, 4.0]))
    assert split.tolist() == [1.5, 5.5]


def left_out(*devices: CountedDevice, sent: tuple[int, ...]) -> list[str | None]:
    counts = readings([0, 1], *[[0, 1000 * each] for each in sent])
    return [each.left_out for each in count_devices(counts, devices, are_chosen=False)]


def test_no_byte_is_counted_twice() -> None:
    eth0 = device(is_physical=True)
    bond = device("bond0", lower=("eth0",))
    bridge = device("docker0")
    assert left_out(eth0, bond, bridge, sent=(9, 9, 5)) == [
        None,
        "counts again what eth0 counts",
        "is not a physical device",
    ]
    assert left_out(bond, bridge, sent=(9, 5)) == [None, None]


def test_a_roce_port_and_its_ethernet_device() -> None:
    eth2 = device("eth2", is_physical=True)
    port = device("mlx5_1/1", is_physical=True, netdev="eth2")
    assert left_out(eth2, port, sent=(1, 900)) == [None, None]
    assert left_out(eth2, port, sent=(900, 900)) == ["counts again what mlx5_1/1 counts", None]


def test_devices_without_bytes_are_left_out_and_chosen_ones_are_not_judged() -> None:
    devices = (device(is_physical=True), device("eth1"), device("br0", lower=("eth0",)))
    counts = readings([0, 1], [0, 1000], [5, 5], [0, 500])
    counted = count_devices(counts, devices, are_chosen=True)
    assert [(each.device.name, each.left_out) for each in counted] == [
        ("eth0", None),
        ("br0", None),
    ]
    total = sum_of(counted)
    assert total is not None
    assert total.sent_bytes.tolist() == [1500]
    assert sum_of(()) is None
