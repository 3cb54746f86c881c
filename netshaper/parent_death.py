"""A process that ends with the one that forked it, also where that is killed."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)  # loaded here: little is safe to do between fork and exec


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this new process, and what it executes, when ``parent`` is no more."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it was gone before the signal was armed
