"""A child that reads every port's counters at a steady interval, apart from the controller."""

from __future__ import annotations

import select
import time

from emulator.messages import Message, MessageSocket
from netshaper.netlink import NetlinkSocket

# The specification: interval_s; namespaces: {namespace: [device, ...]}.
# The result: {"samples": [[before_s, after_s, namespace, device,
#     {minor: [sent_bytes, sent_packets, dropped_packets, backlog_bytes]}], ...],
#   "received": {namespace: {device: [received_bytes at start, at end]}}, "busy_s": CPU time}


def run_sampler(specification: Message, control: MessageSocket) -> None:
    """Sample until the controller says stop, then report."""
    interval_s: float = specification["interval_s"]
    readers = {namespace: NetlinkSocket(namespace) for namespace in specification["namespaces"]}
    ports = [
        (reader, namespace, device, reader.links()[device].index)
        for namespace, reader in readers.items()
        for device in specification["namespaces"][namespace]
    ]
    at_start = _received(readers)
    samples: list[list[object]] = []
    control.send({"event": "sampling"})
    next_s = time.monotonic()
    while True:
        samples += [_sample(*port) for port in ports]
        next_s += interval_s
        missed = max(0, int((time.monotonic() - next_s) / interval_s))
        next_s += missed * interval_s
        wait_s = max(0.0, next_s - time.monotonic())
        if select.select([control], [], [], wait_s)[0]:
            break
    samples += [_sample(*port) for port in ports]
    at_end = _received(readers)
    received = {
        namespace: {
            device: [at_start[namespace][device], count] for device, count in devices.items()
        }
        for namespace, devices in at_end.items()
    }
    busy_s = time.process_time()
    control.send({"event": "sampled", "samples": samples, "received": received, "busy_s": busy_s})


def _sample(reader: NetlinkSocket, namespace: str, device: str, index: int) -> list[object]:
    before_s = time.monotonic()
    counters = {
        minor: [c.sent_bytes, c.sent_packets, c.dropped_packets, c.backlog_bytes]
        for minor, c in reader.classes(index).items()
    }
    return [before_s, time.monotonic(), namespace, device, counters]


def _received(readers: dict[str, NetlinkSocket]) -> dict[str, dict[str, int]]:
    return {
        namespace: {device: link.received_bytes for device, link in reader.links().items()}
        for namespace, reader in readers.items()
    }
