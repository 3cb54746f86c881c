"""What packets are, and what they were on the wire: Ethernet, VLAN, IP, TCP, UDP and RoCEv2.

A host that sends hands its network card packets much longer than a frame, which the card divides
(TSO); one that receives joins frames (GRO). A capture on the host has the long ones. On the wire
each segment had headers of its own, so that a merged packet was ceil(payload / room for payload)
frames. RoCEv2 is divided by the card as well, but what a capture has of it are its frames.

Bytes on the wire are those of Ethernet frames, with VLAN tags and without preamble, checksum and
gap, as counters of Linux have them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from traces.formats.packets import PacketBatch

Integers = NDArray[np.int64]

ETHERNET_BYTES = 14

# Where the type of what follows stands, and where that begins, by link type.
_LINKS = {1: (12, ETHERNET_BYTES), 113: (14, 16), 276: (0, 20)}
LINK_TYPES = "Ethernet, or Linux cooked capture (tcpdump -i any)"

_VLAN_TYPES = (0x8100, 0x88A8, 0x9100)
_VLAN_BYTES = 4
_MOST_VLANS = 2
_IPV4, _IPV6 = 0x0800, 0x86DD
_IPV4_BYTES, _IPV6_BYTES = 20, 40
_MAPPED = np.uint64(0xFFFF00000000)
"""Before an IPv4 address in an IPv6 one (RFC 4291)."""
_TCP, _UDP = 6, 17
_TCP_BYTES, _UDP_BYTES = 20, 8
_ROCE_PORT = 4791


class Kind(IntEnum):
    """What an IP packet carries."""

    TCP = 0
    ROCE = 1
    UDP = 2
    OTHER = 3


@dataclass(frozen=True, eq=False)
class IpPackets:
    """The IP packets of a batch; all arrays have shape (n).

    source, destination: shape (n, 2), uint64, the halves of IPv6 addresses; IPv4 as mapped ones.
    is_merged: was more than one frame. not_ip, too_short: other packets, and those of which too
    little was captured.
    """

    time_ns: Integers
    source: NDArray[np.uint64]
    destination: NDArray[np.uint64]
    kind: Integers
    wire_bytes: Integers
    is_merged: NDArray[np.bool_]
    not_ip: int
    too_short: int


def knows_link(link_type: int) -> bool:
    """Whether packets of interfaces of this type can be read."""
    return link_type in _LINKS


def ip_packets(batch: PacketBatch, mtu_bytes: int) -> IpPackets:
    """The IP packets of ``batch``, on a wire with frames of up to ``mtu_bytes`` after Ethernet's
    header. The link type must be a known one."""
    data = batch.data
    type_at, ip_at = _LINKS[batch.link_type]
    enough = batch.captured_bytes >= ip_at + _IPV4_BYTES
    starts, captured = batch.starts[enough], batch.captured_bytes[enough]
    type_of = _number(data, starts + type_at, 2)
    ip = starts + ip_at
    for _ in range(_MOST_VLANS):
        tagged = np.isin(type_of, _VLAN_TYPES) & (starts + captured >= ip + _VLAN_BYTES)
        type_of[tagged] = _number(data, ip[tagged] + 2, 2)
        ip = ip + _VLAN_BYTES * tagged
    is_ip4, is_ip6 = type_of == _IPV4, type_of == _IPV6
    is_ip = is_ip4 | is_ip6
    # Up to the first bytes of TCP or UDP, which tell their lengths and ports.
    wanted = ip - starts + np.where(is_ip6, _IPV6_BYTES, _IPV4_BYTES)
    read = is_ip & (captured >= wanted)
    read[read] &= _version(data, ip[read]) == np.where(is_ip6[read], 6, 4)
    index = np.flatnonzero(enough)[read]
    headers = _Headers(data, ip[read], (starts + captured)[read], is_ip6[read])
    header_bytes = ip[read] - batch.starts[index]
    ethernet = batch.original_bytes[index] - ip_at + ETHERNET_BYTES
    repeated = header_bytes - ip_at + ETHERNET_BYTES + headers.bytes
    payload = np.maximum(
        headers.total_bytes(batch.original_bytes[index] - header_bytes) - headers.bytes, 0
    )
    room = np.maximum(mtu_bytes - headers.bytes, 1)
    segments = np.where(headers.can_merge, np.maximum(-(-payload // room), 1), 1)
    return IpPackets(
        time_ns=batch.time_ns[index],
        source=headers.source,
        destination=headers.destination,
        kind=headers.kind,
        wire_bytes=ethernet + (segments - 1) * repeated,
        is_merged=segments > 1,
        not_ip=int(np.count_nonzero(~is_ip)),
        too_short=int(np.count_nonzero(~enough) + np.count_nonzero(is_ip & ~read)),
    )


class _Headers:
    """IP headers at ``ip`` in ``data``, and those of TCP and UDP behind them as far as they were
    captured, which is up to ``end``."""

    def __init__(
        self,
        data: NDArray[np.uint8],
        ip: Integers,
        end: Integers,
        is_ip6: NDArray[np.bool_],
    ) -> None:
        self._data, self._ip, self._is_ip6 = data, ip, is_ip6
        options = np.maximum((data[ip].astype(np.int64) & 0xF) * 4, _IPV4_BYTES)
        ip_bytes = np.where(is_ip6, _IPV6_BYTES, options)
        protocol = data[ip + np.where(is_ip6, 6, 9)]
        is_fragment = ~is_ip6 & (_number(data, ip + 6, 2) & 0x3FFF != 0)
        behind = ip + ip_bytes
        is_tcp = (protocol == _TCP) & ~is_fragment & (behind + _TCP_BYTES <= end)
        is_udp = (protocol == _UDP) & ~is_fragment & (behind + _UDP_BYTES <= end)
        is_roce = is_udp.copy()
        is_roce[is_udp] = _number(data, behind[is_udp] + 2, 2) == _ROCE_PORT
        tcp_bytes = np.maximum(
            (data[np.where(is_tcp, behind + 12, 0)] >> 4).astype(np.int64) * 4, 20
        )
        self.bytes = ip_bytes + np.where(is_tcp, tcp_bytes, np.where(is_udp, _UDP_BYTES, 0))
        self.can_merge = is_tcp | (is_udp & ~is_roce)
        self.kind = np.select(
            [is_tcp, is_roce, is_udp], [Kind.TCP, Kind.ROCE, Kind.UDP], Kind.OTHER
        ).astype(np.int64)

    def total_bytes(self, there: Integers) -> Integers:
        """Of each IP packet, by its header; where that says 0, as that of a very long one (BIG TCP)
        does, those that are ``there``."""
        said = np.where(
            self._is_ip6,
            _number(self._data, self._ip + 4, 2) + _IPV6_BYTES,
            _number(self._data, self._ip + 2, 2),
        )
        is_long = (said == 0) | (self._is_ip6 & (said == _IPV6_BYTES))
        return np.where(is_long, there, np.minimum(said, there))

    @property
    def source(self) -> NDArray[np.uint64]:
        return self._address(8, 12)

    @property
    def destination(self) -> NDArray[np.uint64]:
        return self._address(24, 16)

    def _address(self, at_ip6: int, at_ip4: int) -> NDArray[np.uint64]:
        address = np.zeros((len(self._ip), 2), dtype=np.uint64)
        six, four = self._ip[self._is_ip6], self._ip[~self._is_ip6]
        address[~self._is_ip6, 1] = (
            _number(self._data, four + at_ip4, 4).astype(np.uint64) | _MAPPED
        )
        for half in (0, 1):
            at = six + at_ip6 + 8 * half
            high = _number(self._data, at, 4).astype(np.uint64) << np.uint64(32)
            address[self._is_ip6, half] = high | _number(self._data, at + 4, 4).astype(np.uint64)
        return address


def _number(data: NDArray[np.uint8], at: Integers, size: int) -> Integers:
    """The number of ``size`` bytes in network order at each of ``at``."""
    number = data[at].astype(np.int64)
    for byte in range(1, size):
        number = number << 8 | data[at + byte]
    return number


def _version(data: NDArray[np.uint8], ip: Integers) -> Integers:
    return data[ip].astype(np.int64) >> 4
