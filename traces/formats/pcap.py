"""pcap files, as tcpdump writes them: a header, then packets one after the other.

The format: draft-ietf-opsawg-pcap. Times are in microseconds or nanoseconds, and numbers in the
byte order of the machine that captured; the first four bytes tell both.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from traces.compiled import compiled
from traces.errors import BadInputError
from traces.formats.packets import BLOCK_BYTES, MOST_PACKET_BYTES, CutShort, PacketBatch

_MICROSECONDS, _NANOSECONDS = 0xA1B2C3D4, 0xA1B23C4D
_FILE_HEADER_BYTES = 24
_PACKET_HEADER_BYTES = 16
_CAPTURED_AT = 8  # in a packet's header
_LINK_TYPE_BITS = 0x0FFFFFFF
"""The others say how many bytes of checksum there are."""

MAGICS = tuple(
    struct.pack(f"{order}I", magic) for magic in (_MICROSECONDS, _NANOSECONDS) for order in "<>"
)
"""The first four bytes of a pcap file."""


def read_pcap(stream: BinaryIO, file: Path) -> Iterator[PacketBatch | CutShort]:
    """The packets of ``stream``, which is at its beginning; at last CutShort if it ends in one.

    Memory: a few blocks, however long the file is. Raises BadInputError for what is no pcap file,
    and with the number of the packet for damage.
    """
    header = stream.read(_FILE_HEADER_BYTES)
    if len(header) < _FILE_HEADER_BYTES or header[:4] not in MAGICS:
        raise BadInputError("is no pcap file", allowed="a file of tcpdump -w", file=file)
    order = "<" if header[:4] in MAGICS[::2] else ">"
    magic, link_type = struct.unpack(f"{order}I16xI", header)
    ticks_per_s = 10**9 if magic == _NANOSECONDS else 10**6
    rest = b""
    before = 0
    while block := stream.read(BLOCK_BYTES):
        buffer = rest + block
        data = np.frombuffer(buffer, dtype=np.uint8)
        starts, behind = _walk(data, order == ">")
        if len(buffer) - behind > _PACKET_HEADER_BYTES + MOST_PACKET_BYTES:
            raise _damaged(file, before + len(starts), "is longer than 1 MiB")
        rest = buffer[behind:]
        if len(starts):
            yield _batch(data, starts, order, ticks_per_s, link_type, file, before)
            before += len(starts)
    if rest:
        yield CutShort(len(rest))


@compiled
def _walk(data: NDArray[np.uint8], is_big_endian: bool) -> tuple[NDArray[np.int64], int]:
    """Where the headers of the packets in ``data`` are that are whole, and where those end."""
    starts = np.empty(len(data) // _PACKET_HEADER_BYTES + 1, dtype=np.int64)
    count = 0
    at = 0
    while at + _PACKET_HEADER_BYTES <= len(data):
        captured = 0
        for byte in range(4):
            place = _CAPTURED_AT + (byte if is_big_endian else 3 - byte)
            captured = captured << 8 | int(data[at + place])
        behind = at + _PACKET_HEADER_BYTES + captured
        if behind > len(data):
            break
        starts[count] = at
        count += 1
        at = behind
    return starts[:count].copy(), at


def _batch(
    data: NDArray[np.uint8],
    at: NDArray[np.int64],
    order: str,
    ticks_per_s: int,
    link_type: int,
    file: Path,
    before: int,
) -> PacketBatch:
    fields = data[at[:, None] + np.arange(_PACKET_HEADER_BYTES)].view(f"{order}u4")
    seconds, ticks, captured, original = fields.astype(np.int64).T
    wrong = (ticks >= ticks_per_s) | (captured > MOST_PACKET_BYTES) | (original > MOST_PACKET_BYTES)
    if wrong.any():
        raise _damaged(file, before + int(np.argmax(wrong)), "has no possible time or length")
    return PacketBatch(
        data,
        at + _PACKET_HEADER_BYTES,
        captured,
        np.maximum(original, captured),
        seconds * 10**9 + ticks * (10**9 // ticks_per_s),
        link_type & _LINK_TYPE_BITS,
    )


def _damaged(file: Path, index: int, problem: str) -> BadInputError:
    return BadInputError(
        f"packet {index + 1:,} {problem}", allowed="a pcap file that is whole", file=file
    )
