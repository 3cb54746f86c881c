"""Links, classes, queues and filters of a namespace over rtnetlink (uapi/linux/rtnetlink.h).

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
_RTM_NEWQDISC, _RTM_NEWTFILTER, _RTM_GETTFILTER = 36, 44, 46
_NLM_F_REQUEST, _NLM_F_ACK, _NLM_F_DUMP = 0x1, 0x4, 0x300
_NLM_F_EXCL, _NLM_F_CREATE = 0x200, 0x400
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_HEADER = struct.Struct("=IHHII")
_TCMSG = struct.Struct("=BBHiIII")
_IFINFOMSG = struct.Struct("=BBHiII")
_ATTRIBUTE = struct.Struct("=HH")
_NESTED_MASK = 0x3FFF

_IFLA_IFNAME, _IFLA_STATS64 = 3, 23
_TCA_KIND, _TCA_OPTIONS, _TCA_STATS2 = 1, 2, 7
_TCA_STATS_BASIC, _TCA_STATS_QUEUE, _TCA_STATS_APP = 1, 3, 4
_TCA_HTB_PARMS, _TCA_HTB_RATE64, _TCA_HTB_CEIL64 = 1, 6, 7
_TCA_BPF_FD, _TCA_BPF_NAME, _TCA_BPF_FLAGS, _TCA_BPF_ID = 6, 7, 8, 11
_TCA_BPF_FLAG_ACT_DIRECT = 0x1

# Filters of a device's egress hang at its clsact queueing discipline (pkt_sched.h).
_CLSACT_HANDLE, _CLSACT_PARENT, _CLSACT_EGRESS = 0xFFFF0000, 0xFFFFFFF1, 0xFFFFFFF3
_FIRST_PRIORITY_IPV4 = 1 << 16 | socket.htons(0x0800)

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
    """An HTB class: settings in bytes and bytes/s, and its counters. turn: HTB's prio."""

    minor: int
    parent_minor: int
    rate_bytes_per_s: int
    ceil_bytes_per_s: int
    burst_ticks: int
    quantum_bytes: int
    turn: int
    sent_bytes: int
    sent_packets: int
    dropped_packets: int
    backlog_bytes: int


@dataclass(frozen=True)
class QueueSettings:
    """A queueing discipline: its kind, where it hangs, a fifo's limit, and netem's delay."""

    kind: str
    parent_minor: int
    limit: int | None
    delay_ticks: int | None = None


@dataclass(frozen=True)
class EgressProgram:
    """A BPF program at a device's egress. direct: what it returns decides about the packet."""

    name: str
    program_id: int
    direct: bool


class NetlinkSocket:
    """Dumps of one namespace, and requests to it. Raises OSError with the kernel's error number."""

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
            settings = struct.unpack_from("=8xI8xIIII4xI", options[_TCA_HTB_PARMS])
            rate, ceil, burst_ticks, _, quantum, turn = settings
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
                turn=turn,
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
            delay = struct.unpack_from("=I", options)[0] if kind == "netem" else None
            found.append(QueueSettings(kind, parent & 0xFFFF, limit, delay))
        return found

    def own_statistics(self, device_index: int) -> dict[int, tuple[str, bytes]]:
        """What a queueing discipline counts beside the common counters: parent -> kind, bytes."""
        found = {}
        for body in self._dump(_RTM_GETQDISC, _TCMSG.pack(0, 0, 0, 0, 0, 0, 0)):
            _, _, _, index, _, parent, _ = _TCMSG.unpack_from(body)
            attributes = dict(_attributes(body[_TCMSG.size :]))
            statistics = dict(_attributes(attributes.get(_TCA_STATS2, b"")))
            if index == device_index and _TCA_STATS_APP in statistics:
                kind = attributes[_TCA_KIND].rstrip(b"\0").decode()
                found[parent & 0xFFFF] = kind, statistics[_TCA_STATS_APP]
        return found

    def egress_programs(self, device_index: int) -> list[EgressProgram]:
        """BPF programs that see what leaves a device, in their order."""
        found = []
        ask = _TCMSG.pack(0, 0, 0, device_index, 0, _CLSACT_EGRESS, 0)
        for body in self._dump(_RTM_GETTFILTER, ask):
            attributes = dict(_attributes(body[_TCMSG.size :]))
            options = dict(_attributes(attributes.get(_TCA_OPTIONS, b"")))
            if attributes[_TCA_KIND].rstrip(b"\0") == b"bpf" and _TCA_BPF_ID in options:
                name = options[_TCA_BPF_NAME].rstrip(b"\0").decode()
                program_id = struct.unpack("=I", options[_TCA_BPF_ID])[0]
                flags = struct.unpack("=I", options.get(_TCA_BPF_FLAGS, bytes(4)))[0]
                direct = bool(flags & _TCA_BPF_FLAG_ACT_DIRECT)
                found.append(EgressProgram(name, program_id, direct))
        return found

    def add_egress_hook(self, device_index: int) -> None:
        """Give a device its clsact, where it has none yet."""
        place = _TCMSG.pack(0, 0, 0, device_index, _CLSACT_HANDLE, _CLSACT_PARENT, 0)
        kind = _attribute(_TCA_KIND, b"clsact\0")
        self._request(_RTM_NEWQDISC, _NLM_F_CREATE, place + kind)

    def add_egress_program(self, device_index: int, descriptor: int, name: str) -> None:
        """Have a loaded program see the IPv4 packets that leave a device with a clsact.

        FileExistsError where there is one already.
        """
        flags = _NLM_F_CREATE | _NLM_F_EXCL
        self._set_egress_program(device_index, descriptor, name, flags)

    def replace_egress_program(self, device_index: int, descriptor: int, name: str) -> None:
        """Have another program see them from now on. FileNotFoundError where there is none."""
        self._set_egress_program(device_index, descriptor, name, 0)

    def _set_egress_program(self, device_index: int, descriptor: int, name: str, how: int) -> None:
        place = _TCMSG.pack(0, 0, 0, device_index, 1, _CLSACT_EGRESS, _FIRST_PRIORITY_IPV4)
        options = (
            _attribute(_TCA_BPF_FD, struct.pack("=I", descriptor))
            + _attribute(_TCA_BPF_NAME, name.encode() + b"\0")
            + _attribute(_TCA_BPF_FLAGS, struct.pack("=I", _TCA_BPF_FLAG_ACT_DIRECT))
        )
        kind = _attribute(_TCA_KIND, b"bpf\0")
        body = place + kind + _attribute(_TCA_OPTIONS, options)
        self._request(_RTM_NEWTFILTER, how, body)

    def _request(self, message_type: int, flags: int, body: bytes) -> None:
        """Ask for a change and wait until the kernel says that it is made."""
        self._sequence += 1
        flags |= _NLM_F_REQUEST | _NLM_F_ACK
        size = _HEADER.size + len(body)
        self._socket.send(_HEADER.pack(size, message_type, flags, self._sequence, 0) + body)
        while True:
            data = self._socket.recv(_RECEIVE_BYTES)
            _, kind, _, sequence, _ = _HEADER.unpack_from(data)
            if kind == _NLMSG_ERROR and sequence == self._sequence:
                error = -struct.unpack_from("=i", data, _HEADER.size)[0]
                if error:
                    raise OSError(error, os.strerror(error))
                return

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


def _attribute(kind: int, payload: bytes) -> bytes:
    size = _ATTRIBUTE.size + len(payload)
    return _ATTRIBUTE.pack(size, kind) + payload + bytes(-size % 4)
