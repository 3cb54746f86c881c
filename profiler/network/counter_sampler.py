"""Reads the counters of devices at a steady interval while something else runs."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import Self

import numpy as np

from netshaper.parent_death import end_with_parent
from profiler.network.counter_process import SAMPLING
from profiler.network.counter_readings import Readings
from profiler.network.device_counters import CountedDevice
from traces.errors import EmulationError


class CounterSampler:
    """While it is entered, a process (counter_process) reads ``devices``."""

    def __init__(self, devices: Sequence[CountedDevice], interval_s: float) -> None:
        files = [file for device in devices for file in (device.sent, device.received)]
        interval_ns = round(interval_s * 1e9)
        # -P: not what lies in the current directory under our names.
        own = (sys.executable, "-P", "-m", "profiler.network.counter_process")
        self._interval_s = interval_s
        self._process = subprocess.Popen(
            (*own, str(interval_ns), *map(str, files)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # a person's Ctrl-C is not for it
            preexec_fn=partial(end_with_parent, os.getpid()),
        )

    def __enter__(self) -> Self:
        if self._process.stdout is None or self._process.stdout.readline() != SAMPLING:
            raise self._ended()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        with self._process:
            self._process.kill()

    def stop(self) -> Readings:
        """What was read. Raises EmulationError where the process has failed."""
        written, _ = self._process.communicate()
        if self._process.returncode:
            raise self._ended()
        numbers = np.load(io.BytesIO(written), allow_pickle=False)
        return Readings(
            times_s=numbers[:, 0].astype(np.float64) / 1e9,
            counts=numbers[:, 1:].reshape(len(numbers), -1, 2),
            wanted_interval_s=self._interval_s,
        )

    def _ended(self) -> EmulationError:
        status = self._process.wait()
        return EmulationError(f"the process that reads counters ended with status {status}")
