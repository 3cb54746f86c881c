"""TCP connections of a job as its workers have them: window-limited, in the job's class."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping, Sequence

from emulator.networks import common_window_bytes
from emulator.streams import PieceReader, configure_connection
from netshaper.namespaces import inside_namespace
from netshaper.plan import NetworkPlan

_TIMEOUT_S = 30.0
_SETTLE_S = 0.4


class WindowFlow:
    """A connection that sends from a thread as fast as its window lets it, until it is ended."""

    def __init__(
        self, plan: NetworkPlan, job: str, source: str, destination: str, variant: int = 0
    ) -> None:
        self.job = job
        self.received_bytes = 0
        self._window_bytes = common_window_bytes(plan)
        specification = {
            "congestion_control": "cubic",
            "window_bytes": self._window_bytes,
            "dscp": plan.job_dscp[job],
        }
        with inside_namespace(plan.namespaces[destination]):
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with inside_namespace(plan.namespaces[source]):
            self._sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with listener:
            for each in (listener, self._sender):
                configure_connection(each, specification)
                each.settimeout(_TIMEOUT_S)
            listener.bind((plan.addresses.server(destination, variant), 0))
            listener.listen(1)
            self._sender.bind((plan.addresses.server(source, variant), 0))
            self._sender.connect(listener.getsockname())
            self._receiver, _ = listener.accept()
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=run) for run in (self._send, self._receive)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Send no more; what was sent still arrives."""
        self._ended.set()

    def join(self) -> None:
        """Return when all that was sent has been received."""
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        piece = bytes(self._window_bytes)
        with self._sender:
            while not self._ended.is_set():
                self._sender.sendall(piece)

    def _receive(self) -> None:
        reader = PieceReader(self._receiver, self._window_bytes)
        piece_bytes = self._window_bytes // 4
        with self._receiver:
            while reader.read(piece_bytes):
                self.received_bytes += piece_bytes


def goodputs(flows: Sequence[WindowFlow], duration_s: float) -> Mapping[str, float]:
    """Payload bit/s of each job's flows, all of which send, once they have settled."""
    time.sleep(_SETTLE_S)
    begun_s, before = time.monotonic(), [flow.received_bytes for flow in flows]
    time.sleep(duration_s)
    after, ended_s = [flow.received_bytes for flow in flows], time.monotonic()
    found = dict.fromkeys((flow.job for flow in flows), 0.0)
    for flow, now, earlier in zip(flows, after, before, strict=True):
        found[flow.job] += (now - earlier) * 8 / (ended_s - begun_s)
    return found


def end_all(flows: Sequence[WindowFlow]) -> None:
    """End flows that were started, all of them before waiting for any."""
    for flow in flows:
        flow.end()
    for flow in flows:
        flow.join()
