"""A thread that wakes promptly does so within its block, and is scheduled as before after it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from emulator.wake import wake_promptly, waking_promptly

Scheduling = tuple[int, int]


def scheduling() -> Scheduling:
    """(policy, priority) of the calling thread."""
    return os.sched_getscheduler(0), os.sched_getparam(0).sched_priority


def in_a_thread(call: Callable[[], list[Scheduling]]) -> list[Scheduling]:
    """A thread of its own, which ends with whatever it was given."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(call).result()


def _may_wake_promptly() -> bool:
    def ask() -> list[Scheduling]:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except PermissionError:
            return []
        return [scheduling()]

    return bool(in_a_thread(ask))


needs_priority = pytest.mark.skipif(not _may_wake_promptly(), reason="needs CAP_SYS_NICE")


@needs_priority
def test_it_lasts_as_long_as_its_block() -> None:
    def block() -> list[Scheduling]:
        before = scheduling()
        with waking_promptly():
            inside = scheduling()
        return [before, inside, scheduling()]

    before, inside, after = in_a_thread(block)
    assert inside == (os.SCHED_FIFO, 1)
    assert before == after != inside


@needs_priority
def test_it_ends_with_a_block_that_fails() -> None:
    def block() -> list[Scheduling]:
        before = scheduling()
        with pytest.raises(ValueError, match="inside"), waking_promptly():
            raise ValueError("inside")
        return [before, scheduling()]

    before, after = in_a_thread(block)
    assert before == after


@needs_priority
def test_another_policy_than_the_usual_comes_back() -> None:
    def block() -> list[Scheduling]:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        with waking_promptly():
            pass
        return [scheduling()]

    assert in_a_thread(block) == [(os.SCHED_BATCH, 0)]


@needs_priority
def test_only_the_calling_thread_is_asked_for() -> None:
    """Those that move bytes use the CPU."""
    others: list[Scheduling] = []
    started, go = threading.Event(), threading.Event()

    def other() -> None:
        started.set()
        go.wait(10)
        others.append(scheduling())

    def block() -> list[Scheduling]:
        thread = threading.Thread(target=other)
        thread.start()
        started.wait(10)
        before = scheduling()
        wake_promptly()
        go.set()
        thread.join()
        return [before, scheduling()]

    before, now = in_a_thread(block)
    assert now == (os.SCHED_FIFO, 1)
    assert others == [before]
