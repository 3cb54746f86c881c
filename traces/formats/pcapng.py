"""pcapng files, as Wireshark writes them: blocks, of which some are packets.

The format: draft-ietf-opsawg-pcapng. A section begins with a block that tells the byte order; then
each interface has a block, with its link type and the resolution of its times.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats.packets import BLOCK_BYTES, MOST_PACKET_BYTES, CutShort, PacketBatch

MAGIC = b"\x0a\x0d\x0d\x0a"
"""The first four bytes of a pcapng file, in either byte order."""

_SECTION = 0x0A0D0D0A
_INTERFACE = 1
_ENHANCED_PACKET = 6
_WITHOUT_TIME = {2: "is of the obsolete kind", 3: "has no time"}
_ORDER = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
_FRAME_BYTES = 12  # type and length before a block, length again behind it
_PACKET_HEADER_BYTES = 28
_MOST_BLOCK_BYTES = MOST_PACKET_BYTES + 2**16  # with its options

_RESOLUTION, _OFFSET = 9, 14  # options of an interface
_MICROSECONDS = 6
_MOST_DIGITS, _MOST_BITS = 18, 62
_POWER_OF_TWO = 0x80
_LATEST_S = 2**33


@dataclass(frozen=True)
class _Interface:
    link_type: int
    ticks_per_s: int
    offset_s: int


@dataclass
class _Section:
    """What is known of the section that is read. order: '<' or '>', empty before the first."""

    file: Path
    order: str = ""
    interfaces: list[_Interface] = field(default_factory=list)
    blocks: int = 0

    def damaged(self, problem: str) -> BadInputError:
        return BadInputError(
            f"block {self.blocks:,} {problem}",
            allowed="a pcapng file that is whole, with times",
            file=self.file,
        )


def read_pcapng(stream: BinaryIO, file: Path) -> Iterator[PacketBatch | CutShort]:
    """The packets of ``stream``, which is at its beginning; at last CutShort if it ends in one.

    Memory: a few blocks, however long the file is. Raises BadInputError for what is no pcapng file,
    for packets without times, and with the number of the block for damage.
    """
    section = _Section(file)
    rest = b""
    while read := stream.read(BLOCK_BYTES):
        buffer = rest + read
        at = 0
        while True:
            if buffer[at : at + 4] == MAGIC and not _begin_section(buffer, at, section):
                break
            at, packets = _walk(buffer, at, section)
            yield from _batches(buffer, packets, section)
            if buffer[at : at + 4] != MAGIC:
                break
        rest = buffer[at:]
    if not section.order:
        raise BadInputError("is no pcapng file", allowed="a file of Wireshark", file=file)
    if rest:
        yield CutShort(len(rest))


def _begin_section(buffer: bytes, at: int, section: _Section) -> bool:
    """Begin the section whose header is at ``at``; False where there is too little of it."""
    magic = buffer[at + 8 : at + 12]
    if len(magic) < 4:
        return False
    if magic not in _ORDER:
        raise section.damaged("is a section of unknown byte order")
    section.order = _ORDER[magic]
    section.interfaces.clear()
    return True


def _walk(buffer: bytes, at: int, section: _Section) -> tuple[int, list[int]]:
    """Go from the block at ``at`` to the next section, or the first block that is not whole: where
    that is, and where packets are until then."""
    if not section.order:
        return at, []
    two, one = (struct.Struct(section.order + each).unpack_from for each in ("II", "I"))
    packets = []
    first, last = at, len(buffer) - _FRAME_BYTES
    while at <= last:
        kind, length = two(buffer, at)
        if kind == _SECTION and at > first:
            break
        behind = at + length
        if length < _FRAME_BYTES or length % 4 or length > _MOST_BLOCK_BYTES:
            section.blocks += 1
            raise section.damaged(f"has a length of {length:,} bytes")
        if behind > len(buffer):
            break
        section.blocks += 1
        if one(buffer, behind - 4)[0] != length:
            raise section.damaged("has two lengths")
        if kind == _ENHANCED_PACKET:
            packets.append(at)
        elif kind == _INTERFACE:
            section.interfaces.append(_interface(buffer[at + 8 : behind - 4], section))
        elif kind in _WITHOUT_TIME:
            raise section.damaged(f"is a packet that {_WITHOUT_TIME[kind]}")
        at = behind
    return at, packets


def _interface(body: bytes, section: _Section) -> _Interface:
    if len(body) < 8:
        raise section.damaged("is an interface, and too short for one")
    (link_type,) = struct.unpack_from(f"{section.order}H", body)
    options = dict(_options(body[8:], section.order))
    resolution = options.get(_RESOLUTION, bytes([_MICROSECONDS]))
    offset = options.get(_OFFSET, bytes(8))
    if len(resolution) != 1 or len(offset) != 8:
        raise section.damaged("is an interface whose times cannot be read")
    digits = resolution[0] & ~_POWER_OF_TWO
    is_binary = bool(resolution[0] & _POWER_OF_TWO)
    if digits > (_MOST_BITS if is_binary else _MOST_DIGITS):
        raise section.damaged("is an interface whose times are too fine")
    (offset_s,) = struct.unpack(f"{section.order}q", offset)
    if abs(offset_s) > _LATEST_S:
        raise section.damaged("is an interface with an impossible time")
    return _Interface(link_type, (2 if is_binary else 10) ** digits, offset_s)


def _options(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from(f"{order}HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4


def _batches(buffer: bytes, packets: list[int], section: _Section) -> Iterator[PacketBatch]:
    """The ``packets`` of each interface."""
    if not packets:
        return
    data = np.frombuffer(buffer, dtype=np.uint8)
    at = np.array(packets, dtype=np.int64)
    fields = data[at[:, None] + np.arange(_PACKET_HEADER_BYTES)].view(f"{section.order}u4")
    length, interface, high, low, captured, original = fields.astype(np.int64).T[1:]
    wrong = captured + _PACKET_HEADER_BYTES + 4 > length
    wrong |= (original > MOST_PACKET_BYTES) | (interface >= len(section.interfaces))
    if wrong.any():
        raise section.damaged("or one of some before it is a damaged packet")
    ticks = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    for index in np.unique(interface).tolist():
        own = interface == index
        yield PacketBatch(
            data,
            at[own] + _PACKET_HEADER_BYTES,
            captured[own],
            np.maximum(original, captured)[own],
            _nanoseconds(ticks[own], section.interfaces[index], section),
            section.interfaces[index].link_type,
        )


def _nanoseconds(
    ticks: NDArray[np.uint64], interface: _Interface, section: _Section
) -> NDArray[np.int64]:
    seconds, rest = np.divmod(ticks, np.uint64(interface.ticks_per_s))
    if seconds.max() > _LATEST_S:
        raise section.damaged("or one of some before it has an impossible time")
    parts = np.round(rest.astype(np.float64) * (1e9 / interface.ticks_per_s)).astype(np.int64)
    return (seconds.astype(np.int64) + interface.offset_s) * 10**9 + parts
