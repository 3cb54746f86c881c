"""Where the workers of a job on several servers wait for each other at the end of every step.

Over TCP on the emulated network: a byte from each to rank 0, and a byte back.
"""

from __future__ import annotations

import select
import socket
import struct
import time

from emulator.messages import Message

_RANK = struct.Struct("!I")
_CONNECT_TIMEOUT_S = 30.0
_RETRY_S = 0.01

# The specification: rank, ranks, address (own), root_address, port, dscp.


class Barrier:
    """One worker's part in the barrier; ``wait`` may be broken off and taken up again."""

    def __init__(self, specification: Message) -> None:
        self._rank: int = specification["rank"]
        self._ranks: int = specification["ranks"]
        self._links: dict[int, socket.socket] = {}
        self._arrived: set[int] = set()
        self._sent = False
        if self._rank == 0:
            self._listen(specification)
        else:
            self._links[0] = _connected(specification)

    def _listen(self, specification: Message) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            _mark(listener, specification)
            listener.bind((specification["address"], specification["port"]))
            listener.listen(self._ranks)
            listener.settimeout(_CONNECT_TIMEOUT_S)
            while len(self._links) < self._ranks - 1:
                link, _ = listener.accept()
                link.settimeout(_CONNECT_TIMEOUT_S)
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                said = link.recv(_RANK.size, socket.MSG_WAITALL)
                if len(said) < _RANK.size:
                    raise ConnectionError("a worker is gone before it said its rank")
                self._links[_RANK.unpack(said)[0]] = link

    def wait(self, deadline_s: float) -> bool:
        """Whether all have come by ``deadline_s`` (monotonic). ConnectionError if one is gone."""
        if self._rank != 0 and not self._sent:
            self._links[0].sendall(b"\0")
            self._sent = True
        while len(self._arrived) < len(self._links):
            waiting = [link for rank, link in self._links.items() if rank not in self._arrived]
            ready, _, _ = select.select(waiting, [], [], max(0.0, deadline_s - time.monotonic()))
            if not ready:
                return False
            for rank, link in self._links.items():
                if link in ready:
                    if not link.recv(1):
                        raise ConnectionError(f"rank {rank} is gone")
                    self._arrived.add(rank)
        if self._rank == 0:
            for link in self._links.values():
                link.sendall(b"\0")
        self._arrived.clear()
        self._sent = False
        return True


def _connected(specification: Message) -> socket.socket:
    deadline_s = time.monotonic() + _CONNECT_TIMEOUT_S
    while True:
        link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            _mark(link, specification)
            link.bind((specification["address"], 0))
            link.settimeout(_CONNECT_TIMEOUT_S)
            link.connect((specification["root_address"], specification["port"]))
            break
        except ConnectionRefusedError:  # rank 0 does not listen yet
            link.close()
            if time.monotonic() > deadline_s:
                raise
            time.sleep(_RETRY_S)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.sendall(_RANK.pack(specification["rank"]))
    return link


def _mark(end: socket.socket, specification: Message) -> None:
    """Its packets belong to the job's class at every port."""
    end.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, specification["dscp"] << 2)
