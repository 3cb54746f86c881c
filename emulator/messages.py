"""Messages between the controller and its children: JSON, one line each, over a socket pair."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]

_MAX_MESSAGE_BYTES = 2**26


class MessageSocket:
    """One end of the pair. Reading returns whole messages only."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        self._pending = b""

    def fileno(self) -> int:
        """For selectors."""
        return self.socket.fileno()

    def send(self, message: Message) -> None:
        """Send ``message`` whole. OSError where the other side is gone."""
        self.socket.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def receive(self) -> Message | None:
        """The next message; None when the other side has closed."""
        while b"\n" not in self._pending:
            if not self._fill():
                return None
        line, _, self._pending = self._pending.partition(b"\n")
        message: Message = json.loads(line)
        return message

    def receive_ready(self) -> Iterator[Message | None]:
        """After the socket became readable: all whole messages, then None if it was closed."""
        is_open = self._fill()
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines:
            yield json.loads(line)
        if not is_open:
            yield None

    def wait_for_close(self, timeout_s: float) -> None:
        """Until the other side has closed, whatever it says before; for ``timeout_s`` at most."""
        deadline_s = time.monotonic() + timeout_s
        poll = select.poll()
        poll.register(self, select.POLLIN)
        while (left_s := deadline_s - time.monotonic()) > 0:
            if poll.poll(left_s * 1e3) and None in self.receive_ready():
                return

    def close(self) -> None:
        """Close this end."""
        self.socket.close()

    def _fill(self) -> bool:
        try:
            data = self.socket.recv(2**16)
        except ConnectionError:
            return False
        self._pending += data
        if len(self._pending) > _MAX_MESSAGE_BYTES:
            raise ValueError("a message is longer than 64 MiB")
        return bool(data)
