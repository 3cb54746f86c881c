"""python -m profiler.network.counter_process INTERVAL_NS FILE...: reads counters on time.

A process of its own, for another thread of Python may keep the interpreter for longer than an
interval. It says "sampling", reads all files once an interval until its standard input ends, and
writes an array to its standard output (numpy.save): shape (readings, 1 + files), uint64; the time
of each reading in ns of the monotonic clock, and the counts. NOT_READ stands for no number.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from emulator.wake import wake_promptly

NOT_READ = 2**64 - 1
SAMPLING = b"sampling\n"

MOST_NUMBERS = 2**22
"""That are kept, of 8 bytes each; a longer run is read less often."""

_MOST_DIGITS_AND_MORE = 32


def sample(
    files: Sequence[int], interval_ns: int, stop: int, most_numbers: int = MOST_NUMBERS
) -> NDArray[np.uint64]:
    """Read the open ``files`` once an interval until the file ``stop`` is readable, and then.

    The result is that which is described above. Every deadline is counted from the first one; one
    that has passed is left out. Once ``most_numbers`` are there, every second reading goes, and the
    interval is twice as long: counts add up, so no byte is lost.
    """
    most_readings = max(most_numbers // (1 + len(files)), 2)
    readings = np.empty((most_readings, 1 + len(files)), dtype=np.uint64)
    count = 0
    next_ns = time.monotonic_ns()
    is_over = False
    while True:
        if count == most_readings:
            count = (count + 1) // 2
            readings[:count] = readings[::2].copy()
            interval_ns *= 2
        began_ns = time.monotonic_ns()
        counts = [_count(file) for file in files]
        ended_ns = time.monotonic_ns()
        # Where it took long, this process was held up, and nobody knows when each was read.
        if is_over or ended_ns - began_ns < interval_ns / 2:
            readings[count] = ((began_ns + ended_ns) // 2, *counts)
            count += 1
        if is_over:
            return readings[:count]
        next_ns += interval_ns
        next_ns += max(0, (time.monotonic_ns() - next_ns) // interval_ns) * interval_ns
        wait_s = max(0, next_ns - time.monotonic_ns()) / 1e9
        is_over = bool(select.select([stop], [], [], wait_s)[0])


def _count(file: int) -> int:
    try:
        return int(os.pread(file, _MOST_DIGITS_AND_MORE, 0))
    except (OSError, ValueError):  # the device went, or its counter says that it is none
        return NOT_READ


def main(arguments: Sequence[str]) -> None:
    try:
        files = [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in arguments[1:]]
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
    wake_promptly()
    sys.stdout.buffer.write(SAMPLING)
    sys.stdout.buffer.flush()
    np.save(sys.stdout.buffer, sample(files, int(arguments[0]), sys.stdin.fileno()))


if __name__ == "__main__":
    main(sys.argv[1:])
