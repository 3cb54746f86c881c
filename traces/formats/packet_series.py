"""A capture file as bytes over time, between hosts that are chosen or that sent most."""

from __future__ import annotations

import gzip
import ipaddress
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats.json_stream import unpacked, unpacked_head
from traces.formats.packet_headers import LINK_TYPES, Kind, ip_packets, knows_link
from traces.formats.packets import CutShort, PacketBatch
from traces.formats.pcap import MAGICS, read_pcap
from traces.formats.pcapng import MAGIC, read_pcapng
from traces.load_series import LoadSeries

_MOST_CELLS = 2**24  # of hosts and intervals; 8 bytes each, and as much again to grow into
_SHOWN_HOSTS = 3
_WHOLE = "a whole capture file, plain or packed with gzip"
_NAMES = {Kind.TCP: "TCP", Kind.ROCE: "RoCEv2", Kind.UDP: "UDP", Kind.OTHER: "other IP"}

_Address = tuple[int, int]


@dataclass(frozen=True)
class PacketOptions:
    """Which packets count, and how.

    interval_s: of the series. mtu_bytes: of the wire; longer packets were several frames.
    sender: the host whose bytes are the sent ones, None for the one that sent most.
    receiver: the host they go to, and the received ones come from; None for any.
    """

    interval_s: float = 1e-3
    mtu_bytes: int = 1500
    sender: str | None = None
    receiver: str | None = None


def is_capture(head: bytes) -> bool:
    """Whether a file that begins so is a capture of packets, plain or packed with gzip."""
    return unpacked_head(head, len(MAGIC)) in (*MAGICS, MAGIC)


def read_packets(file: Path, options: PacketOptions) -> LoadSeries:
    """The bytes on the wire of a pcap or pcapng ``file``, by even intervals from its first packet.

    A packed file (gzip) is known by its first bytes. Memory grows with hosts and intervals, up to
    256 MiB, and not with packets. Raises BadInputError for what is no such file, is damaged, or has
    none of the packets.
    """
    counts = _Counts(file, options, _address(options.sender), _address(options.receiver))
    cut_short = None
    try:
        with file.open("rb") as raw, unpacked(raw) as stream:
            for batch in _batches(stream, file):
                if isinstance(batch, CutShort):
                    cut_short = batch
                else:
                    counts.add(batch)
    except EOFError:
        raise BadInputError("the packed file ends too early", allowed=_WHOLE, file=file) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise BadInputError(f"cannot be unpacked: {error}", allowed=_WHOLE, file=file) from None
    except OSError as error:
        raise BadInputError(
            f"cannot be read: {error.strerror}", allowed="a capture file", file=file
        ) from None
    return counts.series(cut_short)


def _batches(stream: BufferedReader, file: Path) -> Iterator[PacketBatch | CutShort]:
    is_pcapng = stream.peek(len(MAGIC)).startswith(MAGIC)
    return read_pcapng(stream, file) if is_pcapng else read_pcap(stream, file)


def _address(text: str | None) -> _Address | None:
    """An address as two halves of an IPv6 one. Raises BadInputError where ``text`` is none."""
    if text is None:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise BadInputError(f"{text!r} is no address", allowed="such as 10.0.0.1") from None
    number = int(address) | (0xFFFF << 32 if address.version == 4 else 0)
    return number >> 64, number & (2**64 - 1)


def _shown(address: _Address) -> str:
    whole = ipaddress.IPv6Address(address[0] << 64 | address[1])
    return str(whole.ipv4_mapped or whole)


@dataclass
class _Counts:
    """Bytes by host and interval, of the packets so far.

    sent, received: of each host, or of the sender alone where it is chosen.
    """

    file: Path
    options: PacketOptions
    sender: _Address | None
    receiver: _Address | None
    sent: dict[_Address, NDArray[np.float64]] = field(default_factory=dict)
    received: dict[_Address, NDArray[np.float64]] = field(default_factory=dict)
    first_ns: int | None = None
    intervals: int = 0
    packets: Counter[str] = field(default_factory=Counter)

    def add(self, batch: PacketBatch) -> None:
        if not knows_link(batch.link_type):
            raise BadInputError(
                f"has packets of link type {batch.link_type}", allowed=LINK_TYPES, file=self.file
            )
        if self.first_ns is None:
            self.first_ns = int(batch.time_ns[0])
        packets = ip_packets(batch, self.options.mtu_bytes)
        self.packets["not IP"] += packets.not_ip
        self.packets["too short"] += packets.too_short
        self.packets["merged"] += int(np.count_nonzero(packets.is_merged))
        for kind, name in _NAMES.items():
            self.packets[name] += int(np.count_nonzero(packets.kind == kind))
        interval = self._intervals(packets.time_ns)
        wire_bytes = packets.wire_bytes.astype(np.float64)
        ends = (
            (self.sent, packets.source, packets.destination),
            (self.received, packets.destination, packets.source),
        )
        for counts, own, other in ends:
            chosen = _equal(own, self.sender) & _equal(other, self.receiver)
            self._count(counts, own[chosen], interval[chosen], wire_bytes[chosen])

    def _intervals(self, time_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        if not len(time_ns) or self.first_ns is None:
            return time_ns
        interval = (time_ns - self.first_ns) // round(self.options.interval_s * 1e9)
        early = interval < 0
        self.packets["early"] += int(np.count_nonzero(early))
        interval[early] = 0
        self.intervals = max(self.intervals, int(interval.max()) + 1)
        self._check_memory()
        return interval

    def _check_memory(self, more_hosts: int = 0) -> None:
        hosts = len(self.sent) + len(self.received) + more_hosts
        if self.intervals * max(hosts, 1) > _MOST_CELLS:
            raise BadInputError(
                f"has {hosts:,} ends of traffic over {self.intervals:,} intervals of "
                f"{self.options.interval_s:g} s",
                allowed=f"{_MOST_CELLS:,} or less of both together: choose the hosts, or a longer "
                "interval",
                file=self.file,
            )

    def _count(
        self,
        counts: dict[_Address, NDArray[np.float64]],
        hosts: NDArray[np.uint64],
        interval: NDArray[np.int64],
        wire_bytes: NDArray[np.float64],
    ) -> None:
        addresses, index = _distinct(hosts)
        self._check_memory(sum(address not in counts for address in addresses))
        for number, address in enumerate(addresses):
            own = index == number if len(addresses) > 1 else slice(None)
            first = int(interval[own].min())
            added = np.bincount(interval[own] - first, wire_bytes[own])
            before = counts.get(address, np.zeros(0))
            if first + len(added) > len(before):
                before = np.append(
                    before, np.zeros(max(first + len(added), len(before) * 2) - len(before))
                )
                counts[address] = before
            before[first : first + len(added)] += added

    def series(self, cut_short: CutShort | None) -> LoadSeries:
        """What the chosen sender, or the one that sent most, sent and received."""
        if not self.sent:
            raise BadInputError(
                "has no IP packet of these hosts", allowed="a capture of them", file=self.file
            )
        totals = {address: float(sent.sum()) for address, sent in self.sent.items()}
        by_bytes = sorted(totals, key=lambda address: -totals[address])
        sender = by_bytes[0]
        return LoadSeries(
            edges_s=np.arange(self.intervals + 1, dtype=np.float64) * self.options.interval_s,
            sent_bytes=_as_long(self.sent[sender], self.intervals),
            received_bytes=_as_long(self.received.get(sender, np.zeros(0)), self.intervals),
            source=f"{self.file.name}, bytes that {_shown(sender)} sent"
            + (f" to {_shown(self.receiver)}" if self.receiver else ""),
            notes=tuple(self._notes(by_bytes, totals, cut_short)),
            origin_unix_s=None if self.first_ns is None else self.first_ns / 1e9,
        )

    def _notes(
        self, by_bytes: list[_Address], totals: dict[_Address, float], cut_short: CutShort | None
    ) -> Iterator[str]:
        kinds = [f"{self.packets[name]:,} {name}" for name in _NAMES.values() if self.packets[name]]
        yield f"packets: {', '.join(kinds)}"
        if self.sender is None:
            most = [f"{_shown(host)} {totals[host]:,.0f} bytes" for host in by_bytes]
            yield f"hosts that sent: {', '.join(most[:_SHOWN_HOSTS])}" + (
                f" and {len(most) - _SHOWN_HOSTS:,} others" if len(most) > _SHOWN_HOSTS else ""
            )
        if self.packets["merged"]:
            yield (
                f"packets longer than {self.options.mtu_bytes:,} bytes, counted as the frames that "
                f"the network card made of them (TSO) or joined (GRO): {self.packets['merged']:,}"
            )
        if self.packets["not IP"]:
            yield f"packets that are not IP, and not counted: {self.packets['not IP']:,}"
        if self.packets["too short"]:
            yield (
                "packets of which too little was captured, and that are not counted: "
                f"{self.packets['too short']:,}"
            )
        if self.packets["early"]:
            yield (
                "packets with a time before the first one's, counted in the first interval: "
                f"{self.packets['early']:,}"
            )
        if cut_short is not None:
            yield f"the file ends inside a packet, of which it has {cut_short.rest_bytes:,} bytes"


def _equal(hosts: NDArray[np.uint64], host: _Address | None) -> NDArray[np.bool_]:
    """Which of ``hosts``, shape (n, 2), are ``host``; all where that is None."""
    if host is None:
        return np.ones(len(hosts), dtype=bool)
    high, low = (np.uint64(half) for half in host)
    equal: NDArray[np.bool_] = (hosts[:, 0] == high) & (hosts[:, 1] == low)
    return equal


def _distinct(hosts: NDArray[np.uint64]) -> tuple[list[_Address], NDArray[np.int64]]:
    """The distinct ones of ``hosts``, shape (n, 2), and which of them each is."""
    if not len(hosts):
        return [], np.zeros(0, dtype=np.int64)
    low, low_index = np.unique(hosts[:, 1], return_inverse=True)
    if (hosts[:, 0] == hosts[0, 0]).all():  # of IPv4, and found without sorting
        return [(int(hosts[0, 0]), each) for each in low.tolist()], low_index.astype(np.int64)
    high, high_index = np.unique(hosts[:, 0], return_inverse=True)
    both, index = np.unique(high_index * len(low) + low_index, return_inverse=True)
    addresses = [(int(high[each // len(low)]), int(low[each % len(low)])) for each in both.tolist()]
    return addresses, index.astype(np.int64)


def _as_long(values: NDArray[np.float64], intervals: int) -> NDArray[np.float64]:
    return np.append(values, np.zeros(intervals))[:intervals]
