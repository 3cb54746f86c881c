"""Reading links, classes and queues of a namespace over rtnetlink (include/uapi/linux/rtnetlink.h).

``tc -json`` of iproute2 before 6.3 prints classes as text, and a process for each sample would be
too slow for 20 ms; one dump here takes tens of microseconds.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from netshaper.namespaces import inside_namespace

_RTM_GETLINK, _RTM_GETQDISC, _RTM_GETTCLASS = 18, 38, 42
_NLM_F_REQUEST, _NLM_F_DUMP = 0x1, 0x300
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_HEADER = struct.Struct("=IHHII")
_TCMSG = struct.Struct("=BBHiIII")
_IFINFOMSG = struct.Struct("=BBHiII")
_ATTRIBUTE = struct.Struct("=HH")
_NESTED_MASK = 0x3FFF

_IFLA_IFNAME, _IFLA_STATS64 = 3, 23
_TCA_KIND, _TCA_OPTIONS, _TCA_STATS2 = 1, 2, 7
_TCA_STATS_BASIC, _TCA_STATS_QUEUE = 1, 3
_TCA_HTB_PARMS, _TCA_HTB_RATE64, _TCA_HTB_CEIL64 = 1, 6, 7

_RECEIVE_BYTES = 2**17


@dataclass(frozen=True)
class LinkCounters:
    """A device: its index and what it has received and sent."""

    index: int
    received_bytes: int
    received_packets: int
    sent_bytes: int
    sent_packets: int


@dataclass(frozen=True)
class ClassCounters:
    """An HTB class: settings in bytes and bytes/s, and its counters."""

    minor: int
    parent_minor: int
    rate_bytes_per_s: int
    ceil_bytes_per_s: int
    burst_ticks: int
    quantum_bytes: int
    sent_bytes: int
    sent_packets: int
    dropped_packets: int
    backlog_bytes: int


@dataclass(frozen=True)
class QueueSettings:
    """A queueing discipline: its kind, where it hangs, and a fifo's limit."""

    kind: str
    parent_minor: int
    limit: int | None


class NetlinkSocket:
    """Dumps of one namespace. Raises OSError with the kernel's error number."""

    def __init__(self, namespace: str) -> None:
        with inside_namespace(namespace):
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.bind((0, 0))
        self._sequence = 0

    def close(self) -> None:
        """Give the socket back."""
        self._socket.close()

    def links(self) -> dict[str, LinkCounters]:
        """Counters of every device, by name."""
        links = {}
        for body in self._dump(_RTM_GETLINK, _IFINFOMSG.pack(0, 0, 0, 0, 0, 0)):
            index = _IFINFOMSG.unpack_from(body)[3]
            attributes = dict(_attributes(body[_IFINFOMSG.size :]))
            name = attributes[_IFLA_IFNAME].rstrip(b"\0").decode()
            counters = struct.unpack_from("=4Q", attributes[_IFLA_STATS64])
            links[name] = LinkCounters(index, counters[2], counters[0], counters[3], counters[1])
        return links

    def classes(self, device_index: int) -> dict[int, ClassCounters]:
        """HTB classes of one device, by minor number."""
        found = {}
        for body in self._dump(_RTM_GETTCLASS, _TCMSG.pack(0, 0, 0, device_index, 0, 0, 0)):
            _, _, _, _, handle, parent, _ = _TCMSG.unpack_from(body)
            attributes = dict(_attributes(body[_TCMSG.size :]))
            if attributes[_TCA_KIND].rstrip(b"\0") != b"htb":
                continue
            options = dict(_attributes(attributes[_TCA_OPTIONS]))
            settings = struct.unpack_from("=8xI8xIIII", options[_TCA_HTB_PARMS])
            rate, ceil, burst_ticks, _, quantum = settings
            if _TCA_HTB_RATE64 in options:
                rate = struct.unpack("=Q", options[_TCA_HTB_RATE64])[0]
            if _TCA_HTB_CEIL64 in options:
                ceil = struct.unpack("=Q", options[_TCA_HTB_CEIL64])[0]
            statistics = dict(_attributes(attributes[_TCA_STATS2]))
            sent_bytes, sent_packets = struct.unpack_from("=QI", statistics[_TCA_STATS_BASIC])
            _, backlog, drops = struct.unpack_from("=3I", statistics[_TCA_STATS_QUEUE])
            minor = handle & 0xFFFF
            found[minor] = ClassCounters(
                minor=minor,
                parent_minor=parent & 0xFFFF,
                rate_bytes_per_s=rate,
                ceil_bytes_per_s=ceil,
                burst_ticks=burst_ticks,
                quantum_bytes=quantum,
                sent_bytes=sent_bytes,
                sent_packets=sent_packets,
                dropped_packets=drops,
                backlog_bytes=backlog,
            )
        return found

    def queues(self, device_index: int) -> list[QueueSettings]:
        """Queueing disciplines of one device."""
        found = []
        for body in self._dump(_RTM_GETQDISC, _TCMSG.pack(0, 0, 0, 0, 0, 0, 0)):
            _, _, _, index, _, parent, _ = _TCMSG.unpack_from(body)
            if index != device_index:
                continue
            attributes = dict(_attributes(body[_TCMSG.size :]))
            kind = attributes[_TCA_KIND].rstrip(b"\0").decode()
            options = attributes.get(_TCA_OPTIONS, b"")
            limit = struct.unpack_from("=I", options)[0] if kind.endswith("fifo") else None
            found.append(QueueSettings(kind, parent & 0xFFFF, limit))
        return found

    def _dump(self, message_type: int, body: bytes) -> Iterator[bytes]:
        self._sequence += 1
        size = _HEADER.size + len(body)
        flags = _NLM_F_REQUEST | _NLM_F_DUMP
        self._socket.send(_HEADER.pack(size, message_type, flags, self._sequence, 0) + body)
        while True:
            data = self._socket.recv(_RECEIVE_BYTES)
            offset = 0
            while offset + _HEADER.size <= len(data):
                length, kind, _, sequence, _ = _HEADER.unpack_from(data, offset)
                if sequence == self._sequence:
                    if kind == _NLMSG_DONE:
                        return
                    if kind == _NLMSG_ERROR:
                        error = -struct.unpack_from("=i", data, offset + _HEADER.size)[0]
                        raise OSError(error, os.strerror(error))
                    yield data[offset + _HEADER.size : offset + length]
                offset += (length + 3) & ~3


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        if length < _ATTRIBUTE.size:
            return
        yield kind & _NESTED_MASK, data[offset + _ATTRIBUTE.size : offset + length]
        offset += (length + 3) & ~3
