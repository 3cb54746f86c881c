"""The TCP connections of workers and probes: how they are set, and how they are read cheaply."""

from __future__ import annotations

import select
import socket

from emulator.messages import Message


def configure_connection(connection: socket.socket, specification: Message) -> None:
    """Set congestion control, window and DSCP, before connect or listen offers them."""
    congestion_control = specification["congestion_control"].encode()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, specification["window_bytes"])
    connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, specification["dscp"] << 2)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class PieceReader:
    """Reads a connection in pieces of a quarter of its window.

    The kernel wakes the reader once a piece is there instead of at every packet. A blocking read
    would take what is there and then wait for a whole further piece, forever at the end of a
    transfer; so it polls first and reads without waiting.
    """

    def __init__(self, connection: socket.socket, window_bytes: int) -> None:
        self._connection = connection
        self._buffer = memoryview(bytearray(max(window_bytes // 4, 1)))
        self._piece_bytes = 0
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)

    def read(self, size_bytes: int) -> bool:
        """Read ``size_bytes`` and throw them away; False where the connection ended before."""
        left = size_bytes
        while left > 0:
            piece_bytes = min(left, len(self._buffer))
            if piece_bytes != self._piece_bytes:
                self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, piece_bytes)
                self._piece_bytes = piece_bytes
            self._poll.poll()
            try:
                count = self._connection.recv_into(self._buffer, piece_bytes, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            if count == 0:
                return False
            left -= count
        return True
