"""Settings of connections that the user's own programs opened."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from traces.errors import EmulationError

_PIDFD_GETFD = 438  # on every architecture (pidfd_getfd(2), Linux 5.6)
_libc = ctypes.CDLL(None, use_errno=True)


def configure_connections(pid: int, dscp: int, congestion_control: str) -> int:
    """Give all TCP connections of ``pid`` and its descendants these settings; how many those are.

    A program knows nothing of the DSCP that tells ports its job. Its sockets are its own, and a
    duplicate of one is the same socket. Connections that it opens later have none of this.
    Raises EmulationError where the kernel does not hand sockets out, or refuses a setting.
    """
    try:
        return sum(
            _configure_those_of(process, dscp, congestion_control)
            for process in _with_descendants(pid)
        )
    except OSError as error:
        raise EmulationError(f"a program's connections cannot be set: {error.strerror}") from None


def _configure_those_of(pid: int, dscp: int, congestion_control: str) -> int:
    try:
        holder = os.pidfd_open(pid)
    except ProcessLookupError:
        return 0
    count = 0
    try:
        for descriptor in _sockets_of(pid):
            found = _duplicate(holder, descriptor)
            if found is None:
                continue  # closed meanwhile
            with socket.socket(fileno=found) as connection:
                if connection.family == socket.AF_INET and connection.type == socket.SOCK_STREAM:
                    _configure(connection, dscp, congestion_control)
                    count += 1
    finally:
        os.close(holder)
    return count


def _configure(connection: socket.socket, dscp: int, congestion_control: str) -> None:
    connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())


def _with_descendants(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _with_descendants(int(child))


def _sockets_of(pid: int) -> Iterator[int]:
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if entry.readlink().name.startswith("socket:"):
                yield int(entry.name)


def _duplicate(holder: int, descriptor: int) -> int | None:
    found: int = _libc.syscall(_PIDFD_GETFD, holder, descriptor, 0)
    if found >= 0:
        return found
    error = ctypes.get_errno()
    if error == errno.EBADF:
        return None
    raise OSError(error, os.strerror(error))
