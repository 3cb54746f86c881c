"""Writes captures of a job's traffic that are as large as they shall be."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FRAME_BYTES = 1514
ACK_BYTES = 66
_DATA_FRAMES = 8  # before each acknowledgement
_GROUPS_A_BLOCK = 512

_PERIOD_NS = 100_000_000
_GROUPS_AN_ITERATION = 4_000
_FRAME_NS = 1_230  # at 10 Gbit/s
_BEGAN_S = 1_700_000_000


@dataclass(frozen=True)
class CaptureShape:
    """captured_bytes: kept of each packet at most, as tcpdump's snapshot length."""

    captured_bytes: int


def write_capture(file: Path, shape: CaptureShape, least_bytes: int) -> tuple[int, int]:
    """Write a pcap of two hosts, one of which sends for a part of every 100 ms, until it has
    ``least_bytes``. Returns the packets in it, and the bytes that the sender put on the wire.
    """
    data = _frame("10.0.0.1", "10.0.0.2", FRAME_BYTES)[: shape.captured_bytes]
    ack = _frame("10.0.0.2", "10.0.0.1", ACK_BYTES)[: shape.captured_bytes]
    header = [("second", "<u4"), ("nanosecond", "<u4"), ("captured", "<u4"), ("original", "<u4")]
    group = np.zeros(
        _GROUPS_A_BLOCK,
        [
            ("data", [*header, ("frame", f"V{len(data)}")], _DATA_FRAMES),
            ("ack", [*header, ("frame", f"V{len(ack)}")]),
        ],
    )
    for name, frame, original in (("data", data, FRAME_BYTES), ("ack", ack, ACK_BYTES)):
        group[name]["frame"] = np.void(frame)
        group[name]["captured"] = len(frame)
        group[name]["original"] = original
    blocks = -(-least_bytes // group.nbytes)
    with file.open("wb") as stream:
        stream.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 2**18, 1))
        for block in range(blocks):
            number = block * _GROUPS_A_BLOCK + np.arange(_GROUPS_A_BLOCK)
            iteration, place = np.divmod(number, _GROUPS_AN_ITERATION)
            began_ns = iteration * _PERIOD_NS + place * (_DATA_FRAMES + 1) * _FRAME_NS
            data_ns = began_ns[:, None] + np.arange(_DATA_FRAMES) * _FRAME_NS
            for name, time_ns in (("data", data_ns), ("ack", began_ns + _DATA_FRAMES * _FRAME_NS)):
                group[name]["second"] = _BEGAN_S + time_ns // 10**9
                group[name]["nanosecond"] = time_ns % 10**9
            group.tofile(stream)
    groups = blocks * _GROUPS_A_BLOCK
    return groups * (_DATA_FRAMES + 1), groups * _DATA_FRAMES * FRAME_BYTES


def _frame(source: str, destination: str, frame_bytes: int) -> bytes:
    """An Ethernet frame with IPv4 and TCP, whose options are times."""
    ethernet = bytes.fromhex("020000000002 020000000001 0800".replace(" ", ""))
    addresses = bytes(int(part) for address in (source, destination) for part in address.split("."))
    ip = struct.pack(">BBHIBBH", 0x45, 0, frame_bytes - len(ethernet), 0, 64, 6, 0) + addresses
    tcp = struct.pack(">HHIIBBHHH", 29_500, 40_000, 0, 0, 8 << 4, 0x10, 512, 0, 0)
    options = bytes([1, 1, 8, 10, *bytes(8)])
    packet = ethernet + ip + tcp + options
    return packet + bytes(frame_bytes - len(packet))
