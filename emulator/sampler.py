"""A child that reads every port's counters at a steady interval, apart from the controller."""

from __future__ import annotations

import select
import time
from dataclasses import dataclass

from emulator.messages import Message, MessageSocket
from netshaper.ecn.loader import MarkReader
from netshaper.ecn.red import decode_red
from netshaper.netlink import NetlinkSocket

MOST_SAMPLES = 100_000
"""Of all ports together; a longer run is sampled less often, so that memory stays bounded."""

# The specification: interval_s; namespaces: {namespace: [device, ...]};
#   markers: [[namespace, device], ...] with an eBPF marker; red: whether red queues mark.
# The result: {"samples": [[before_s, after_s, namespace, device,
#     {minor: [sent_bytes, sent_packets, dropped_packets, backlog_bytes]},
#     {"dscp" | "class": {number: marked_packets}}], ...],
#   "received": {namespace: {device: [received_bytes at start, at end]}},
#   "interval_s": as it was at the end, "cpu_share": of one core, for sampling}

Round = list[list[object]]
"""One sample of every port."""


def run_sampler(specification: Message, control: MessageSocket) -> None:
    """Sample until the controller says stop, then report."""
    interval_s: float = specification["interval_s"]
    readers = {namespace: NetlinkSocket(namespace) for namespace in specification["namespaces"]}
    markers = {
        (namespace, device): MarkReader(namespace, device)
        for namespace, device in specification["markers"]
    }
    ports = [
        _Port(
            namespace,
            device,
            reader,
            reader.links()[device].index,
            markers.get((namespace, device)),
            specification["red"],
        )
        for namespace, reader in readers.items()
        for device in specification["namespaces"][namespace]
    ]
    at_start = _received(readers)
    rounds: list[Round] = []
    control.send({"event": "sampling"})
    began_s = next_s = time.monotonic()
    while True:
        rounds.append([port.sample() for port in ports])
        rounds, interval_s = thinned(rounds, interval_s, MOST_SAMPLES // len(ports))
        next_s += interval_s
        missed = max(0, int((time.monotonic() - next_s) / interval_s))
        next_s += missed * interval_s
        wait_s = max(0.0, next_s - time.monotonic())
        if select.select([control], [], [], wait_s)[0]:
            break
    rounds.append([port.sample() for port in ports])
    at_end = _received(readers)
    received = {
        namespace: {
            device: [at_start[namespace][device], count] for device, count in devices.items()
        }
        for namespace, devices in at_end.items()
    }
    control.send(
        {
            "event": "sampled",
            "samples": [sample for each in rounds for sample in each],
            "received": received,
            "interval_s": interval_s,
            "cpu_share": time.process_time() / (time.monotonic() - began_s),
        }
    )


def thinned(rounds: list[Round], interval_s: float, most_rounds: int) -> tuple[list[Round], float]:
    """``rounds`` and interval; every second round at twice the interval where they are too many.

    Counters are cumulative: what lay between two samples that stay is not lost.
    """
    if len(rounds) <= max(most_rounds, 2):
        return rounds, interval_s
    return rounds[::2], interval_s * 2


@dataclass(frozen=True)
class _Port:
    namespace: str
    device: str
    reader: NetlinkSocket
    index: int
    marker: MarkReader | None
    red: bool

    def sample(self) -> list[object]:
        before_s = time.monotonic()
        counters = {
            minor: [c.sent_bytes, c.sent_packets, c.dropped_packets, c.backlog_bytes]
            for minor, c in self.reader.classes(self.index).items()
        }
        return [before_s, time.monotonic(), self.namespace, self.device, counters, self._marks()]

    def _marks(self) -> dict[str, dict[int, int]]:
        """Packets marked here so far, by the job's DSCP or by the class of its queue."""
        if self.marker is not None:
            counts = enumerate(self.marker.counts())
            return {"dscp": {dscp: count.marked for dscp, count in counts if count.marked}}
        if self.red:
            found = self.reader.own_statistics(self.index)
            return {
                "class": {
                    minor: decode_red(statistics).marked
                    for minor, (kind, statistics) in found.items()
                    if kind == "red"
                }
            }
        return {}


def _received(readers: dict[str, NetlinkSocket]) -> dict[str, dict[str, int]]:
    return {
        namespace: {device: link.received_bytes for device, link in reader.links().items()}
        for namespace, reader in readers.items()
    }
