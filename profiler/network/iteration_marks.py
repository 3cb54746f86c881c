"""When a command says that it has done iterations (emulator.iterations), on the monotonic clock."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass

from emulator.iterations import socket_address

_MAX_DATAGRAM_BYTES = 64
_SO_TIMESTAMPNS = 35  # asm-generic/socket.h; Python has no name for it
_TIMESPEC = struct.Struct("@ll")
_CONTROL_BYTES = socket.CMSG_SPACE(_TIMESPEC.size)
_MOST_AT_ONCE = 10_000
_CLOCK_READINGS = 3


@dataclass(frozen=True)
class Mark:
    """``done`` iterations, of all that there were, had been done at ``t_s``."""

    t_s: float
    done: int


class IterationMarks:
    """The socket that a command reports to.

    refused: reports that were no number.
    """

    def __init__(self) -> None:
        self.name = f"@roundelay-iterations-{os.getpid()}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(socket_address(self.name))
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._marks: list[Mark] = []
        self.refused = 0

    @property
    def marks(self) -> Sequence[Mark]:
        return self._marks

    @property
    def done(self) -> int:
        return self._marks[-1].done if self._marks else 0

    def fileno(self) -> int:
        """Readable when there is something to take."""
        return self._socket.fileno()

    def take(self) -> None:
        """All that has come, each at the time at which the kernel got it."""
        ahead_ns = _real_ahead_of_monotonic_ns()
        for _ in range(_MOST_AT_ONCE):
            try:
                text, (stamp, *_), _, _ = self._socket.recvmsg(_MAX_DATAGRAM_BYTES, _CONTROL_BYTES)
            except BlockingIOError:
                return
            if text.isdigit() and int(text):
                seconds, nanoseconds = _TIMESPEC.unpack(stamp[2])
                t_s = (seconds * 10**9 + nanoseconds - ahead_ns) / 1e9
                self._marks.append(Mark(t_s, self.done + int(text)))
            else:
                self.refused += 1

    def close(self) -> None:
        self._socket.close()


def _real_ahead_of_monotonic_ns() -> int:
    """By the reading that took least: this process may be held up between two clocks."""
    readings = []
    for _ in range(_CLOCK_READINGS):
        before_ns, real_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        readings.append((after_ns - before_ns, real_ns - (before_ns + after_ns) // 2))
    return min(readings)[1]


def lengths_s(marks: Sequence[Mark]) -> list[float]:
    """Of the iterations between ``marks``; of several in one report their mean, as often."""
    return [
        (after.t_s - before.t_s) / (after.done - before.done)
        for before, after in itertools.pairwise(marks)
        for _ in range(after.done - before.done)
    ]
