"""The training process's end of the socket to the profiler process."""

from __future__ import annotations

import functools
import os
import select
import socket
from typing import NoReturn

from emulator.messages import MessageSocket
from profiler.training.protocol import (
    DESCRIPTOR_VARIABLE,
    Allocate,
    End,
    Event,
    event_message,
    parse_command,
)


class TrainingOverError(SystemExit):
    """The profiler process wants no more, or is gone: the training process ends, without a fault.

    It is a SystemExit, so that a person's script ends by it as by sys.exit(0).
    """

    def __init__(self) -> None:
        super().__init__(0)


class ProfilerLink:
    """Sends events; gives the allocations that have come."""

    def __init__(self, end: socket.socket) -> None:
        self._messages = MessageSocket(end)
        self._readable = select.poll()
        self._readable.register(end, select.POLLIN)
        self._is_over = False

    def send(self, event: Event) -> None:
        """TrainingOverError where the profiler process is gone."""
        try:
            self._messages.send(event_message(event))
        except (BrokenPipeError, ConnectionResetError):
            self._end()

    def poll(self) -> Allocate | None:
        """The latest allocation that has come since the last call; it never waits.

        Raises
        ------
        TrainingOverError: the profiler process wants no more, or is gone.
        """
        if self._is_over or self._readable.poll(0):
            return self._received()
        return None

    def wait(self) -> Allocate:
        """The next allocation, however long it takes; TrainingOverError as in ``poll``."""
        latest = None
        while latest is None:
            latest = self._received()
        return latest

    def _received(self) -> Allocate | None:
        """The latest allocation of what comes next; None where that is no whole message yet."""
        latest = None
        if self._is_over:
            self._end()
        for message in self._messages.receive_ready():
            command = End() if message is None else parse_command(message)
            if isinstance(command, End):
                self._end()
            latest = command
        return latest

    def _end(self) -> NoReturn:
        self._is_over = True
        raise TrainingOverError


@functools.cache
def profiler_link() -> ProfilerLink | None:
    """The link of this process; None where no profiler started it.

    Of several processes on a server the first is measured. No child of it has the link.
    """
    descriptor = os.environ.pop(DESCRIPTOR_VARIABLE, None)
    if descriptor is None or os.environ.get("LOCAL_RANK", "0") != "0":
        return None
    os.set_inheritable(int(descriptor), False)
    return ProfilerLink(socket.socket(fileno=int(descriptor)))
