"""A process and all that descend from it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from netshaper.run_state import ProcessIdentity
from traces.errors import EmulationError, MissingCapabilityError

Processes = Callable[[], list[int]]
"""Ids of those that belong together, found anew at every call."""

_KILL_TIMEOUT_S = 10.0
_POLL_S = 0.02


class ProcessTree:
    """The process ``root`` and those that it started, also through others.

    One whose parent has ended stays a member, if it was seen before that: so look now and then.
    Ended processes that nobody has waited for are left out.
    """

    def __init__(self, root: int) -> None:
        """MissingCapabilityError where the kernel does not tell the children of a process."""
        if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
            raise MissingCapabilityError(
                "the kernel does not tell the children of a process",
                remedy="run where cgroups may be made (as root), or with CONFIG_PROC_CHILDREN",
            )
        self._lock = threading.Lock()
        identity = ProcessIdentity.of(root)
        self._known = set() if identity is None else {identity}

    def processes(self) -> list[int]:
        """Ids of all members that run now."""
        with self._lock:
            found = {known for known in self._known if known.is_alive()}
            unvisited = list(found)
            while unvisited:
                for pid in _children(unvisited.pop().pid):
                    child = ProcessIdentity.of(pid)
                    if child is not None and child not in found:
                        found.add(child)
                        unvisited.append(child)
            self._known = found
            return sorted(process.pid for process in found)

    def kill(self) -> None:
        """End every member, also those that are forked meanwhile."""
        deadline_s = time.monotonic() + _KILL_TIMEOUT_S
        while self.processes():
            for process in self._known:
                _kill(process)
            if time.monotonic() > deadline_s:
                raise EmulationError("processes of the training do not end")
            time.sleep(_POLL_S)


def threads_of(pid: int) -> list[int]:
    """Ids of its threads; none where it has ended."""
    try:
        return [int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _children(pid: int) -> Iterator[int]:
    for thread in threads_of(pid):
        with contextlib.suppress(OSError):  # the thread has ended
            words = Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
            yield from map(int, words)


def _kill(process: ProcessIdentity) -> None:
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(process.pid)
        try:
            # Who still has this id is who was opened: an id may pass to another process.
            if process.is_alive():
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)
