"""Processes held to CPUs by their affinity, which needs no privilege. (sched_setaffinity(2))

A new thread or process begins with the affinity of the one that made it. Other than in a cpuset, it
may choose another afterwards, as some libraries do: so whoever strays is put back.
"""

from __future__ import annotations

import os
import threading
from typing import Literal

from profiler.limits.process_tree import Processes, threads_of

_MOST_PASSES = 50
_INTERVAL_S = 0.2


def hold_to(
    processes: Processes, cpus: frozenset[int], *, only_strays: bool = False
) -> tuple[int, int]:
    """Let every thread of every one of ``processes`` run on ``cpus`` alone.

    only_strays: leave those as they are that keep to a part of ``cpus``.
    Returns (threads that were changed, threads that refused: they run as another user). Looks again
    until there is nothing left to change.
    """
    changed: set[int] = set()
    refused: set[int] = set()
    for _ in range(_MOST_PASSES):
        fresh = False
        for thread in [thread for pid in processes() for thread in threads_of(pid)]:
            outcome = _hold_thread(thread, cpus, only_strays)
            if outcome == "changed" and thread not in changed:
                fresh = True
                changed.add(thread)
            elif outcome == "refused":
                refused.add(thread)
        if not fresh:
            break
    return len(changed), len(refused)


def _hold_thread(
    thread: int, cpus: frozenset[int], only_strays: bool
) -> Literal["changed", "kept", "refused"]:
    try:
        now = os.sched_getaffinity(thread)
        if now == cpus or (only_strays and now <= cpus):
            return "kept"
        os.sched_setaffinity(thread, cpus)
    except ProcessLookupError:  # it has ended
        return "kept"
    except PermissionError:
        return "refused"
    return "changed"


class AffinityKeeper:
    """Puts threads back that leave the CPUs they were given, until it is closed."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._cpus: frozenset[int] | None = None
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.put_back = 0
        """Threads that had strayed so far; one that does so again counts again."""
        self._thread = threading.Thread(target=self._keep, name="affinity", daemon=True)
        self._thread.start()

    def hold(self, cpus: frozenset[int]) -> int:
        """Hold all to ``cpus`` from now on; how many threads refused."""
        with self._lock:
            self._cpus = cpus
            return hold_to(self._processes, cpus)[1]

    def close(self) -> None:
        """Let them be."""
        self._closed.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._closed.wait(_INTERVAL_S):
            with self._lock:
                if self._cpus is not None:
                    self.put_back += hold_to(self._processes, self._cpus, only_strays=True)[0]
