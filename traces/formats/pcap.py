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

from traces.errors import BadInputError
from traces.formats.packets import BLOCK_BYTES, MOST_PACKET_BYTES, CutShort, PacketBatch

_MICROSECONDS, _NANOSECONDS = 0xA1B2C3D4, 0xA1B23C4D
_FILE_HEADER_BYTES = 24
_PACKET_HEADER_BYTES = 16
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
    captured_at = struct.Struct(f"{order}8xI").unpack_from
    rest = b""
    before = 0
    while block := stream.read(BLOCK_BYTES):
        buffer = rest + block
        starts = []
        at, last = 0, len(buffer) - _PACKET_HEADER_BYTES
        while at <= last:
            behind = at + _PACKET_HEADER_BYTES + captured_at(buffer, at)[0]
            if behind > len(buffer):
                break
            starts.append(at)
            at = behind
        if len(buffer) - at > _PACKET_HEADER_BYTES + MOST_PACKET_BYTES:
            raise _damaged(file, before + len(starts), "is longer than 1 MiB")
        rest = buffer[at:]
        if starts:
            yield _batch(buffer, starts, order, ticks_per_s, link_type, file, before)
            before += len(starts)
    if rest:
        yield CutShort(len(rest))


def _batch(
    buffer: bytes,
    headers: list[int],
    order: str,
    ticks_per_s: int,
    link_type: int,
    file: Path,
    before: int,
) -> PacketBatch:
    data = np.frombuffer(buffer, dtype=np.uint8)
    at = np.array(headers, dtype=np.int64)
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
