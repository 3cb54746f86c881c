"""Entering network namespaces by name."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

from traces.errors import EmulationError

NAMED_NAMESPACES = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def _set_namespace(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def can_make_namespaces() -> bool:
    """Whether this process may make network namespaces: tried in a child, which then ends."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if _libc.unshare(_CLONE_NEWNET) == 0 else 1)
    return os.waitpid(pid, 0)[1] == 0


def enter_namespace(name: str) -> None:
    """Move the calling thread into the network namespace ``name`` for good."""
    try:
        descriptor = os.open(NAMED_NAMESPACES / name, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise EmulationError(f"namespace {name} cannot be opened: {error.strerror}") from None
    try:
        _set_namespace(descriptor)
    except OSError as error:
        raise EmulationError(f"namespace {name} cannot be entered: {error.strerror}") from None
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def inside_namespace(name: str) -> Iterator[None]:
    """The calling thread is inside ``name`` for the block. Sockets made there stay there."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter_namespace(name)
        try:
            yield
        finally:
            _set_namespace(home)
    finally:
        os.close(home)
