"""Waking on time beside processes that use the CPU. (sched(7))"""

from __future__ import annotations

import contextlib
import os
import time


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


def sleep_until(deadline_s: float) -> None:
    """Sleep until ``deadline_s`` on the monotonic clock, or not at all where it has passed."""
    time.sleep(max(0.0, deadline_s - time.monotonic()))
