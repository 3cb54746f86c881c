"""Waking on time beside processes that use the CPU. (sched(7))"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator


def wake_promptly() -> None:
    """Have the calling thread run as soon as it wakes, where its user may ask for that.

    It must hardly use the CPU. A fair scheduler lets whoever runs finish its slice first, or goes
    on to the next tick, whatever the weights; a real-time one does not. How late a worker wakes all
    the same is measured, and part of a run's verdict.
    """
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(
            0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_min(os.SCHED_FIFO))
        )


@contextlib.contextmanager
def waking_promptly() -> Iterator[None]:
    """wake_promptly() for the block; then the thread is scheduled as it was before."""
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    wake_promptly()
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)


def sleep_until(deadline_s: float) -> None:
    """Sleep until ``deadline_s`` on the monotonic clock, or not at all where it has passed."""
    time.sleep(max(0.0, deadline_s - time.monotonic()))
