"""A child that fills every port for a moment and reads how fast it drains: link calibration."""

from __future__ import annotations

import itertools
import socket
import statistics
import threading
import time
from collections.abc import Sequence

from emulator.messages import Message, MessageSocket
from emulator.streams import PieceReader, configure_connection
from netshaper.disciplines import ROOT_CLASS
from netshaper.namespaces import inside_namespace
from netshaper.netlink import NetlinkSocket

_PORT = 19999
_CHUNK_BYTES = 2**20
_SETTLE_S = 0.05
_SLICES = 6
_CONNECT_TIMEOUT_S = 10.0
_DRAIN_TIMEOUT_S = 5.0

# The specification: dscp, window_bytes, congestion_control; batches: [{duration_s, ports:
#   [[namespace, device, address, neighbour's namespace, neighbour's address], ...]}, ...].
# The result: {"rates_bps": [measured, in the order of the ports]}


def run_probe(specification: Message, control: MessageSocket) -> None:
    """Fill the ports of each batch at once, one batch after the other; report rates in bit/s."""
    rates = [rate for batch in specification["batches"] for rate in _probe(batch, specification)]
    control.send({"event": "probed", "rates_bps": rates})


def _probe(batch: Message, specification: Message) -> list[float]:
    """Fill the ports of ``batch`` with one connection to each neighbour; rate of each in bit/s."""
    readers: list[tuple[NetlinkSocket, int]] = []
    senders: list[socket.socket] = []
    for namespace, device, address, far_namespace, far_address in batch["ports"]:
        reader = NetlinkSocket(namespace)
        readers.append((reader, reader.links()[device].index))
        with inside_namespace(far_namespace):
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        configure_connection(listener, specification)
        listener.bind((far_address, _PORT))
        listener.listen(1)
        with inside_namespace(namespace):
            sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        configure_connection(sender, specification)
        sender.settimeout(_CONNECT_TIMEOUT_S)
        sender.bind((address, 0))
        sender.connect((far_address, _PORT))
        sender.settimeout(None)
        receiver, _ = listener.accept()
        listener.close()
        reader_of = PieceReader(receiver, specification["window_bytes"])
        threading.Thread(target=_discard, args=(reader_of,), daemon=True).start()
        senders.append(sender)
    for sender in senders:
        threading.Thread(target=_fill, args=(sender,), daemon=True).start()
    time.sleep(_SETTLE_S)
    readings = [[_reading(*reader) for reader in readers]]
    for _ in range(_SLICES):
        time.sleep(batch["duration_s"] / _SLICES)
        readings.append([_reading(*reader) for reader in readers])
    for sender in senders:
        sender.shutdown(socket.SHUT_RDWR)
    deadline = time.monotonic() + _DRAIN_TIMEOUT_S
    while any(_backlog(*reader) for reader in readers) and time.monotonic() < deadline:
        time.sleep(0.005)
    for reader, _ in readers:
        reader.close()
    return [median_rate_bps(series) for series in zip(*readings, strict=True)]


def median_rate_bps(readings: Sequence[tuple[float, int]]) -> float:
    """Median over the slices between (time, bytes sent): a pause of the probe spoils one slice."""
    return statistics.median(
        (sent - sent_before) * 8 / (t_s - before_s)
        for (before_s, sent_before), (t_s, sent) in itertools.pairwise(readings)
    )


def _fill(sender: socket.socket) -> None:
    zeros = bytes(_CHUNK_BYTES)
    try:
        while True:
            sender.sendall(zeros)
    except OSError:
        return  # shut down: the probe is over


def _discard(reader: PieceReader) -> None:
    while reader.read(_CHUNK_BYTES):
        pass


def _reading(reader: NetlinkSocket, index: int) -> tuple[float, int]:
    before_s = time.monotonic()
    sent_bytes = reader.classes(index)[ROOT_CLASS].sent_bytes
    return (before_s + time.monotonic()) / 2, sent_bytes


def _backlog(reader: NetlinkSocket, index: int) -> int:
    return sum(counters.backlog_bytes for counters in reader.classes(index).values())
