"""A loader worker that does not outlive the process that started it."""

from __future__ import annotations

import multiprocessing
import os
import select
import threading


def end_with_owner() -> None:
    """End this process, a child of multiprocessing, as soon as its parent has ended.

    For workers that would wait for work for ever, and keep the memory of the cache. In a process
    that is no such child it does nothing.
    """
    owner = multiprocessing.parent_process()
    if owner is not None and owner.pid is not None:
        threading.Thread(target=_end_after, args=(owner.pid,), daemon=True).start()


def _end_after(pid: int) -> None:
    try:
        owner = os.pidfd_open(pid)
    except ProcessLookupError:
        os._exit(1)
    select.select([owner], [], [])
    os._exit(1)
