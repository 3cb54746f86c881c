"""Reads the wire format of Protocol Buffers: streams of messages, and the fields of one.

Only what a few fields of a known message need: varints and length-delimited fields are handed out,
fixed ones passed over (protobuf.dev/programming-guides/encoding).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple

_MAX_VARINT_BYTES = 10
_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}


class DamagedMessageError(ValueError):
    """Bytes that are no message, or that end too early; says why in a clause."""


class Field(NamedTuple):
    """A field of a message. value: an unsigned number, or the bytes of a length-delimited one."""

    number: int
    value: int | bytes


def read_message(stream: IO[bytes], max_bytes: int) -> bytes | None:
    """The next of a stream of messages, each behind its length as a varint; None at the end.

    Raises DamagedMessageError for one longer than ``max_bytes``, and where the stream ends in it.
    """
    length = shift = 0
    for place in range(_MAX_VARINT_BYTES):
        byte = stream.read(1)
        if not byte:
            if place == 0:
                return None
            raise DamagedMessageError("the file ends in the length of a message")
        length |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            break
    else:
        raise DamagedMessageError("the length of a message is no varint")
    if length > max_bytes:
        raise DamagedMessageError(f"a message of {length:,} bytes is longer than {max_bytes:,}")
    message = stream.read(length)
    if len(message) < length:
        raise DamagedMessageError(
            f"the file ends after {len(message):,} of the {length:,} bytes of a message"
        )
    return message


def fields_of(message: bytes) -> Iterator[Field]:
    """Yield the varints and the length-delimited fields. Raises DamagedMessageError."""
    at = 0
    while at < len(message):
        tag, at = read_varint(message, at)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise DamagedMessageError("a field has the number 0")
        if kind == _VARINT:
            value, at = read_varint(message, at)
            yield Field(number, value)
            continue
        if kind == _DELIMITED:
            length, at = read_varint(message, at)
        elif kind in _FIXED_BYTES:
            length = _FIXED_BYTES[kind]
        else:
            raise DamagedMessageError(f"field {number} is of no known kind")
        if length > len(message) - at:
            raise DamagedMessageError(f"field {number} is longer than its message")
        if kind == _DELIMITED:
            yield Field(number, message[at : at + length])
        at += length


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The unsigned number at ``at``, of 64 bits, and the place behind it."""
    value = 0
    for place, byte in enumerate(data[at : at + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at + place + 1
    raise DamagedMessageError("a varint does not end")


def repeated_varints(value: int | bytes) -> list[int]:
    """The numbers of a repeated field, of which packed ones stand in one length-delimited field."""
    if isinstance(value, int):
        return [value]
    numbers: list[int] = []
    at = 0
    while at < len(value):
        number, at = read_varint(value, at)
        numbers.append(number)
    return numbers


def signed(value: int) -> int:
    """The number that an int64 or int32 field holds as ``value``."""
    return value - 2**64 if value >= 2**63 else value
