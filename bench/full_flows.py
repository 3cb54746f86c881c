"""TCP connections that send as fast as they may, and what arrives of them."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from emulator.networks import common_window_bytes
from emulator.streams import PieceReader, configure_connection
from netshaper.namespaces import inside_namespace
from netshaper.plan import NetworkPlan

_CONGESTION_CONTROL = "cubic"
_TIMEOUT_S = 30.0
_SETTLE_S = 0.5


@dataclass(frozen=True)
class Route:
    """From where to where a connection goes: (namespace, address) of both ends.

    window_bytes: of a lossless fabric; None leaves the windows to TCP.
    """

    source: tuple[str, str]
    destination: tuple[str, str]
    dscp: int = 0
    window_bytes: int | None = None


def route_of(plan: NetworkPlan, job: str, source: str, destination: str) -> Route:
    """A connection of ``job`` as its workers would have it."""
    ends = [
        (plan.namespaces[server], plan.addresses.server(server)) for server in (source, destination)
    ]
    return Route(ends[0], ends[1], plan.job_dscp[job], common_window_bytes(plan))


class FullFlow:
    """One connection with a thread at either end."""

    def __init__(self, route: Route, piece_bytes: int) -> None:
        """piece_bytes: how much is sent and read at once."""
        self.received_bytes = 0
        self._piece_bytes = piece_bytes
        with inside_namespace(route.destination[0]):
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with inside_namespace(route.source[0]):
            self._sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with listener:
            for each in (listener, self._sender):
                _configure(each, route)
                each.settimeout(_TIMEOUT_S)
            listener.bind((route.destination[1], 0))
            listener.listen(1)
            self._sender.bind((route.source[1], 0))
            self._sender.connect(listener.getsockname())
            self._receiver, _ = listener.accept()
        # What is still in the buffers of a full connection could take seconds to arrive.
        self._sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=run) for run in (self._send, self._receive)]

    def start(self) -> None:
        """Send from now on."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Send no more, and give up what is on its way."""
        self._ended.set()

    def join(self) -> None:
        """Return when both ends are closed."""
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        piece = bytes(self._piece_bytes)
        with self._sender:
            while not self._ended.is_set():
                self._sender.sendall(piece)

    def _receive(self) -> None:
        reader = PieceReader(self._receiver, 4 * self._piece_bytes)
        with self._receiver, contextlib.suppress(ConnectionResetError):
            while reader.read(self._piece_bytes):
                self.received_bytes += self._piece_bytes


def _configure(connection: socket.socket, route: Route) -> None:
    if route.window_bytes is None:
        control = _CONGESTION_CONTROL.encode()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
        return
    specification = {
        "congestion_control": _CONGESTION_CONTROL,
        "window_bytes": route.window_bytes,
        "dscp": route.dscp,
    }
    configure_connection(connection, specification)


@contextlib.contextmanager
def all_sending(flows: Sequence[FullFlow]) -> Iterator[None]:
    """All of them send, and have settled, for the block."""
    for flow in flows:
        flow.start()
    try:
        time.sleep(_SETTLE_S)
        yield
    finally:
        for flow in flows:
            flow.end()
        for flow in flows:
            flow.join()


def goodputs_bps(flows: Sequence[FullFlow], duration_s: float) -> list[float]:
    """Payload bit/s of each flow from now on."""
    began_s, before = time.monotonic(), [flow.received_bytes for flow in flows]
    time.sleep(duration_s)
    after, ended_s = [flow.received_bytes for flow in flows], time.monotonic()
    return [8 * (b - a) / (ended_s - began_s) for a, b in zip(before, after, strict=True)]
