"""A child that writes the packets which one network device sends to a capture file."""

from __future__ import annotations

import ctypes
import select
import socket
import struct

from emulator.messages import Message, MessageSocket
from netshaper.namespaces import enter_namespace
from traces.errors import MissingCapabilityError

_SNAPPED_BYTES = 128  # of a packet: its headers, whatever their options
_ALL_PROTOCOLS = 0x0003
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_STATISTICS = struct.Struct("=II")  # packets, drops
_SO_ATTACH_FILTER, _SO_TIMESTAMPNS = 26, 35
_TIMESTAMP = struct.Struct("=qq")
_ETHERNET = 1
_BUFFER_BYTES = 2**25

# Keeps what goes out: load the packet's type, return all of it where that is PACKET_OUTGOING, else
# nothing (linux/filter.h: SKF_AD_OFF + SKF_AD_PKTTYPE).
_OUTGOING_ONLY = (
    (0x28, 0, 0, 0xFFFFF000 + 4),
    (0x15, 0, 1, 4),
    (0x06, 0, 0, 0xFFFFFFFF),
    (0x06, 0, 0, 0),
)

# The specification: namespace, device, file
# The result: {event: captured, packets, lost}


def run_capture(specification: Message, control: MessageSocket) -> None:
    """Capture until the controller says stop, then report."""
    try:
        from scapy.utils import RawPcapWriter
    except ImportError:
        raise MissingCapabilityError(
            "captures of packets take scapy", remedy="pip install 'roundelay[real]'"
        ) from None
    enter_namespace(specification["namespace"])
    with (
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS)) as packets,
        RawPcapWriter(
            specification["file"], linktype=_ETHERNET, nano=True, snaplen=_SNAPPED_BYTES
        ) as writer,
    ):
        _keep_outgoing(packets)
        packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        packets.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        packets.bind((specification["device"], 0))
        packets.setblocking(False)
        writer.write_header(None)
        count = 0
        control.send({"event": "capturing"})
        both = [packets.fileno(), control.fileno()]
        while control.fileno() not in select.select(both, [], [])[0]:
            count += _write_waiting(packets, writer)
        count += _write_waiting(packets, writer)
        statistics = packets.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, _STATISTICS.size)
        control.send(
            {"event": "captured", "packets": count, "lost": _STATISTICS.unpack(statistics)[1]}
        )


def _keep_outgoing(packets: socket.socket) -> None:
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in _OUTGOING_ONLY)
    code = ctypes.create_string_buffer(program)
    address = ctypes.addressof(code)
    packets.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", len(_OUTGOING_ONLY), address)
    )


def _write_waiting(packets: socket.socket, writer: object) -> int:
    """All packets that are there. Returns how many."""
    count = 0
    space = socket.CMSG_SPACE(_TIMESTAMP.size)
    while True:
        try:
            # With MSG_TRUNC the packet's whole length is told, not only what fits.
            buffer = bytearray(_SNAPPED_BYTES)
            length, ancillary, _, _ = packets.recvmsg_into([buffer], space, socket.MSG_TRUNC)
        except BlockingIOError:
            return count
        ((_, _, stamp),) = ancillary
        seconds, nanoseconds = _TIMESTAMP.unpack(stamp)
        kept = min(length, _SNAPPED_BYTES)
        writer.write_packet(  # type: ignore[attr-defined]
            bytes(buffer[:kept]), sec=seconds, usec=nanoseconds, caplen=kept, wirelen=length
        )
        count += 1
