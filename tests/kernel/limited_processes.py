"""Processes that want more than their group allows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from emulator.cgroups import join_group


def spinning(groups: Iterable[Path]) -> int:
    """Id of a child in ``groups`` that takes all the CPU time it gets."""
    return _child_in(groups, _spin)


def sleeping(groups: Iterable[Path]) -> int:
    """Id of a child in ``groups`` that does nothing."""
    return _child_in(groups, lambda: time.sleep(600))


def holding_memory(groups: Iterable[Path], size_bytes: int) -> int:
    """Id of a child in ``groups`` that takes ``size_bytes`` of memory and stays."""

    def hold() -> None:
        held = b"x" * size_bytes
        time.sleep(600)
        del held

    return _child_in(groups, hold)


def end_of(pid: int) -> int:
    """How the child ``pid`` ended: its exit code, or minus the signal. Waits for it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _spin() -> None:
    while True:
        pass


def _child_in(groups: Iterable[Path], act: Callable[[], None]) -> int:
    """Returns when the child has joined; it never returns from ``act`` into the caller's code."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            for group in groups:
                join_group(group)
            os.write(writing, b"joined")
            act()
        finally:
            os._exit(1)
    os.close(writing)
    joined = os.read(reading, 6)
    os.close(reading)
    assert joined, "the child could not join"
    return pid
