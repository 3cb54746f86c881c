"""One worker: follows its job's compute timeline and sends its transfers over persistent TCP."""

from __future__ import annotations

import fcntl
import os
import queue
import socket
import struct
import termios
import time
from collections import defaultdict

from emulator.input import AlwaysThere, Input
from emulator.messages import Message, MessageSocket
from emulator.streams import PieceReader, configure_connection
from emulator.threads import run_or_end
from emulator.wake import sleep_until, wake_promptly
from netshaper.namespaces import enter_namespace

_SO_MAX_PACING_RATE = 47
_UNLIMITED_PACING = 2**64 - 1
_PACING = struct.Struct("=Q")  # bytes/s
_DRAIN_POLL_S = 0.2e-3
_REPORT_LEAD_S = 5e-3
"""How long before the end of its timeline a worker reports it, where nothing else keeps it: the
start of the next iteration then reaches all workers before it is due."""

_CHUNK_BYTES = 2**20
_RANK = struct.Struct("!I")
_CONNECT_TIMEOUT_S = 30.0

# The specification of a worker, as the coordinator writes it:
#   namespace, address, port, dscp, window_bytes, congestion_control
#   peers: [[rank, address, port], ...]     every rank that this worker sends to
#   sources: [rank, ...]                    every rank that sends to this worker
#   timeline: {compute_s, transfers: [{ready_s, blocking, rate_limit_bytes_per_s,
#              send: [[rank, bytes], ...], receive: [[rank, bytes], ...]}]}


def run_worker(specification: Message, control: MessageSocket) -> None:
    """Connect, then run iterations as the controller starts them, until it says stop."""
    follow(specification, control, AlwaysThere())


def follow(specification: Message, control: MessageSocket, feed: Input) -> None:
    """As ``run_worker``, with samples from ``feed``."""
    enter_namespace(specification["namespace"])
    listener = _listen(specification)
    control.send({"event": "listening"})
    if control.receive() is None:
        return
    worker = _Worker(specification, control, feed)
    worker.connect(listener)
    wake_promptly()  # of its threads this one alone; those that move bytes are there already
    control.send({"event": "ready"})
    while (message := control.receive()) is not None and message["do"] == "iterate":
        feed.change(message["input"])
        control.send(worker.iterate(message["start_s"]))


def _listen(specification: Message) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    configure_connection(listener, specification)
    listener.bind((specification["address"], specification["port"]))
    listener.listen(64)
    listener.settimeout(_CONNECT_TIMEOUT_S)
    return listener


class _Worker:
    def __init__(self, specification: Message, control: MessageSocket, feed: Input) -> None:
        self._specification = specification
        self._input = feed
        self._control = control
        self._compute_s: float = specification["timeline"]["compute_s"]
        self._transfers: list[Message] = specification["timeline"]["transfers"]
        self._outgoing: dict[int, queue.SimpleQueue[Message]] = {}
        self._received: list[queue.SimpleQueue[float]] = [
            queue.SimpleQueue() for _ in self._transfers
        ]

    def connect(self, listener: socket.socket) -> None:
        """One connection to each peer, one from each source; a thread serves each."""
        for rank, address, port in self._specification["peers"]:
            connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            configure_connection(connection, self._specification)
            connection.bind((self._specification["address"], 0))
            connection.settimeout(_CONNECT_TIMEOUT_S)
            connection.connect((address, port))
            connection.settimeout(None)
            connection.sendall(_RANK.pack(self._specification["rank"]))
            orders: queue.SimpleQueue[Message] = queue.SimpleQueue()
            self._outgoing[rank] = orders
            run_or_end(_send_forever, connection, orders)
        for _ in self._specification["sources"]:
            connection, _ = listener.accept()
            connection.settimeout(None)
            rank = _RANK.unpack(connection.recv(_RANK.size, socket.MSG_WAITALL))[0]
            expected = [
                (index, size)
                for index, transfer in enumerate(self._transfers)
                for source, size in transfer["receive"]
                if source == rank
            ]
            reader = PieceReader(connection, self._specification["window_bytes"])
            run_or_end(_receive_forever, reader, expected, self._received)
        listener.close()

    def iterate(self, start_s: float) -> Message:
        """Run one iteration that began at ``start_s`` (monotonic); report when each part ended.

        Compute is an absolute-deadline sleep: a GPU does not use the CPU.
        """
        self._input.take(start_s)
        timeline_s = start_s
        started: list[float] = []
        received: dict[int, float] = {}
        lateness: list[float] = []
        for index, transfer in enumerate(self._transfers):
            due_s = timeline_s + transfer["ready_s"]
            sleep_until(due_s)
            now_s = time.monotonic()
            started.append(now_s)
            lateness.append(now_s - due_s)
            for rank, size in transfer["send"]:
                limit = transfer["rate_limit_bytes_per_s"]
                self._outgoing[rank].put({"bytes": size, "rate_limit_bytes_per_s": limit})
            if transfer["blocking"]:
                received[index] = max(self._await(index), due_s)
                self._control.send(
                    {"event": "received", "transfer": index, "at_s": received[index]}
                )
                reply = self._control.receive()
                if reply is None:
                    raise ConnectionError("the controller is gone")
                timeline_s += reply["resume_s"] - due_s
        for index in range(len(self._transfers)):
            if index not in received:
                received[index] = self._await(index)
        timeline_end_s = timeline_s + self._compute_s
        report_s = timeline_end_s - _REPORT_LEAD_S
        if time.monotonic() < report_s:
            sleep_until(report_s)
            lateness.append(time.monotonic() - report_s)
        input_ready_s = self._input.await_next()
        return {
            "event": "end",
            "timeline_end_s": timeline_end_s,
            "started_s": started,
            "received_s": [received[index] for index in range(len(self._transfers))],
            "lateness_s": lateness,
            "input_ready_s": input_ready_s,
        }

    def _await(self, transfer: int) -> float:
        """When the last byte of ``transfer`` arrived; at once where none is due."""
        due = len(self._transfers[transfer]["receive"])
        return max((self._received[transfer].get() for _ in range(due)), default=0.0)


def _send_forever(connection: socket.socket, orders: queue.SimpleQueue[Message]) -> None:
    zeros = memoryview(bytes(_CHUNK_BYTES))
    paced_at: int | None = None
    while True:
        order = orders.get()
        limit: int | None = order["rate_limit_bytes_per_s"]
        if limit != paced_at:
            _drain(connection)  # what is still in the send buffer belongs to the old pace
            pace = _PACING.pack(_UNLIMITED_PACING if limit is None else limit)
            connection.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, pace)
            paced_at = limit
        left: int = order["bytes"]
        while left > 0:
            connection.sendall(zeros[: min(left, _CHUNK_BYTES)])
            left -= _CHUNK_BYTES


def _drain(connection: socket.socket) -> None:
    """Wait until everything sent so far has arrived."""
    while struct.unpack("=i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0] > 0:
        time.sleep(_DRAIN_POLL_S)


def _receive_forever(
    reader: PieceReader,
    expected: list[tuple[int, int]],
    received: list[queue.SimpleQueue[float]],
) -> None:
    """Transfers arrive in order, each of a known size."""
    while expected:
        for transfer, size in expected:
            if not reader.read(size):
                os._exit(0)  # the sender has ended, and this worker would wait for it for ever
            received[transfer].put(time.monotonic())


def flows_by_rank(flows: list[tuple[int, int, int]]) -> dict[str, dict[int, list[list[int]]]]:
    """{"send"|"receive": {rank: [[other rank, bytes], ...]}} of (source, destination, bytes)."""
    table: dict[str, dict[int, list[list[int]]]] = {
        "send": defaultdict(list),
        "receive": defaultdict(list),
    }
    for source, destination, size in flows:
        table["send"][source].append([destination, size])
        table["receive"][destination].append([source, size])
    return table
