"""A loader's connection to the storage server of its host."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterable
from dataclasses import asdict

from emulator.streams import configure_connection
from emulator.training.specification import StorageRoute
from emulator.training.storage_protocol import HELLO, REQUEST, SIZE
from traces.errors import EmulationError

_CONNECT_TIMEOUT_S = 30.0


class StorageClient:
    """Asks for items ahead of time and reads them in the same order, in pieces.

    Item i lies in slot i of the dataset's file, which begins anew where the file ends.
    """

    def __init__(self, route: StorageRoute, item_bytes: int) -> None:
        self._item_bytes = item_bytes
        self._most_piece_bytes = max(route.window_bytes // 4, 1)
        self._piece_bytes = 0
        self._connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        configure_connection(self._connection, asdict(route))
        self._connection.bind((route.own_address, 0))
        self._connection.settimeout(_CONNECT_TIMEOUT_S)
        self._connection.connect((route.address, route.port))
        self._connection.sendall(HELLO.pack(route.dscp, route.congestion_control.encode()))
        size = self._connection.recv(SIZE.size, socket.MSG_WAITALL)
        if len(size) < SIZE.size:
            raise EmulationError("the storage server closed the connection")
        self._slots = SIZE.unpack(size)[0] // item_bytes
        if self._slots == 0:
            raise EmulationError(f"the dataset's file is smaller than an item of {item_bytes} B")
        self._connection.settimeout(None)
        self._poll = select.poll()
        self._poll.register(self._connection, select.POLLIN)

    def request(self, items: Iterable[int]) -> None:
        """Ask for ``items``."""
        self._connection.sendall(
            b"".join(
                REQUEST.pack(item % self._slots * self._item_bytes, self._item_bytes)
                for item in items
            )
        )

    def await_piece(self, left_bytes: int) -> None:
        """Wait until a piece of the next ``left_bytes`` is there: a quarter of the window.

        It stays in the window, and so holds back the server, until it is read.
        """
        piece_bytes = min(left_bytes, self._most_piece_bytes)
        if piece_bytes != self._piece_bytes:
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, piece_bytes)
            self._piece_bytes = piece_bytes
        self._poll.poll()

    def read_piece(self, into: memoryview) -> int:
        """Read what is there, up to ``into``; how many bytes. EmulationError at the end."""
        try:
            count = self._connection.recv_into(into, 0, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0
        if count == 0:
            raise EmulationError("the storage server closed the connection")
        return count
