"""Reading files on time: what is kept, what is left out, and that memory stays bounded."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from profiler.network.counter_process import NOT_READ, sample
from profiler.network.counter_sampler import CounterSampler
from profiler.network.device_counters import CountedDevice
from traces.errors import EmulationError


def device(directory: Path, sent: str, received: str) -> CountedDevice:
    (directory / "sent").write_text(sent)
    (directory / "received").write_text(received)
    return CountedDevice("eth0", directory / "sent", directory / "received")


def test_files_are_read_anew_each_time(tmp_path: Path) -> None:
    largest = 2**64 - 2
    counted = device(tmp_path, f"{largest}\n", "N/A (no PMA)\n")
    with CounterSampler((counted,), 1e-3) as sampler:
        (tmp_path / "received").write_text("5\n")
        readings = sampler.stop()
    assert readings.counts.shape[1:] == (1, 2)
    assert (np.diff(readings.times_s) > 0).all()
    assert set(readings.counts[:, 0, 0].tolist()) == {largest}
    assert set(readings.counts[:, 0, 1].tolist()) <= {NOT_READ, 5}
    assert readings.counts[-1, 0, 1] == 5


def test_a_long_run_is_read_less_often(tmp_path: Path) -> None:
    """It lasts for hundreds of intervals, and eight readings are kept at most."""
    counted = device(tmp_path, "1", "2")
    files = [os.open(file, os.O_RDONLY) for file in (counted.sent, counted.received)]
    lasting = subprocess.Popen(("sleep", "0.3"))
    stop = os.pidfd_open(lasting.pid)
    readings = sample(files, 1_000_000, stop, most_numbers=24)
    lasting.wait()
    for file in (*files, stop):
        os.close(file)
    assert 4 <= len(readings) <= 8
    times_ns = readings[:, 0].astype(np.int64)
    assert (np.diff(times_ns) > 0).all()
    assert times_ns[-1] - times_ns[0] >= 250_000_000
    assert set(map(tuple, readings[:, 1:].tolist())) == {(1, 2)}


def test_a_device_that_is_gone_is_an_error(tmp_path: Path) -> None:
    counted = device(tmp_path, "1", "2")
    counted.sent.unlink()
    with pytest.raises(EmulationError, match="ended with status 1"):
        CounterSampler((counted,), 1e-3).__enter__()
