"""The nodes of a Chakra execution trace (.et), of which only what a demand needs is kept.

Schema: et_def.proto of mlcommons/chakra, 1.0.2; a stream of messages, GlobalMetadata and then
Nodes, plain or packed with gzip. Times in the file are microseconds, here seconds.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import IO

from traces.errors import BadInputError
from traces.formats.json_stream import unpacked
from traces.formats.protobuf_fields import (
    DamagedMessageError,
    Field,
    fields_of,
    read_message,
    repeated_varints,
    signed,
)

ALLOWED = "a whole Chakra execution trace (.et) of schema 1.0, plain or packed with gzip"

MAX_FILE_BYTES = 4 * 2**30  # unpacked
MAX_NODE_BYTES = 16 * 2**20
MAX_NODES = 1_000_000
MAX_TIME_US = 10**15
MAX_SIZE_BYTES = 2**63 - 1

ALL_RANKS = "all"
"""The group of a collective that names none."""
DIMENSIONS = "dimensions-"
"""Before the involved dimensions of a topology that the file does not describe: '10' of two."""


class NodeType(IntEnum):
    """What a node is."""

    INVALID = 0
    METADATA = 1
    MEM_LOAD = 2
    MEM_STORE = 3
    COMPUTE = 4
    SEND = 5
    RECEIVE = 6
    COLLECTIVE = 7


COMMUNICATION = frozenset({NodeType.SEND, NodeType.RECEIVE, NodeType.COLLECTIVE})

_COLLECTIVES = (
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
)

_ID, _TYPE, _CONTROL, _DATA, _DURATION, _ATTRIBUTE = 1, 3, 4, 5, 7, 10
_NAME, _BOOL_LIST, _STRING = 1, 28, 29
_NUMBERS = frozenset({7, 9, 11, 13, 27})  # int32, int64, uint32, uint64, bool


@dataclass(frozen=True, slots=True)
class Node:
    """A node. waits_for: ids of the nodes that have to end first.

    collective: its name, or its number where that is not known; empty where the node is none.
    group: of a collective, ``pg_name`` or the involved dimensions. size_bytes: ``comm_size``, of
    the input; None where the node does not say.
    """

    id: int
    type: NodeType
    waits_for: tuple[int, ...]
    duration_s: float
    is_on_cpu: bool
    collective: str
    group: str
    size_bytes: int | None


def stream_nodes(file: Path) -> Iterator[Node]:
    """Yield the nodes of ``file``. Raises BadInputError with the number of the message, from 1."""
    place = 0
    try:
        with file.open("rb") as raw, unpacked(raw) as stream:
            messages = _messages(stream)
            while True:
                place += 1
                message = next(messages, None)
                if message is None:
                    return
                if place > 1:
                    yield _node(message)
                else:
                    _check_metadata(message)
    except DamagedMessageError as error:
        raise _refusal(str(error), file, place) from None
    except UnicodeDecodeError:
        raise _refusal("has text that is not UTF-8", file, place) from None
    except EOFError:
        raise _refusal("the packed file ends too early", file, place) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _refusal(f"cannot be unpacked: {error}", file, place) from None
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise BadInputError(problem, allowed=ALLOWED, file=file) from None


def _messages(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield one or more."""
    left_bytes = MAX_FILE_BYTES
    for place in range(MAX_NODES + 1):
        message = read_message(stream, min(MAX_NODE_BYTES, left_bytes))
        if message is None:
            if place == 0:
                raise DamagedMessageError("the file is empty")
            return
        left_bytes -= len(message)
        yield message
    raise DamagedMessageError(f"there are more than {MAX_NODES:,} nodes")


def _check_metadata(message: bytes) -> None:
    """GlobalMetadata says nothing that is needed; but it has to be a message."""
    for _ in fields_of(message):
        pass


def _refusal(problem: str, file: Path, place: int) -> BadInputError:
    return BadInputError(problem, allowed=ALLOWED, file=file, key=f"message {place}")


def _node(message: bytes) -> Node:
    numbers: dict[int, int] = {}
    waits_for: list[int] = []
    attributes: dict[str, int | str] = {}
    for field in fields_of(message):
        if field.number in (_ID, _TYPE, _DURATION):
            numbers[field.number] = _number(field)
        elif field.number in (_CONTROL, _DATA):
            waits_for.extend(repeated_varints(field.value))
        elif field.number == _ATTRIBUTE:
            attributes.update(_attribute(_bytes(field)))
    kind = numbers.get(_TYPE, 0)
    if kind not in tuple(NodeType):
        raise DamagedMessageError(f"the node type {kind} is not known")
    duration_us = numbers.get(_DURATION, 0)
    if duration_us > MAX_TIME_US:
        raise DamagedMessageError(f"duration_micros is {duration_us}, which cannot be")
    type_ = NodeType(kind)
    return Node(
        id=numbers.get(_ID, 0),
        type=type_,
        waits_for=tuple(dict.fromkeys(waits_for)),
        duration_s=duration_us * 1e-6,
        is_on_cpu=bool(attributes.get("is_cpu_op", 0)),
        collective=_collective(attributes) if type_ is NodeType.COLLECTIVE else "",
        group=_group(attributes),
        size_bytes=_size(attributes),
    )


def _attribute(message: bytes) -> dict[str, int | str]:
    """Its name and its value; empty where that is of a kind that no demand needs."""
    name = ""
    value: int | str | None = None
    for field in fields_of(message):
        if field.number == _NAME:
            name = _bytes(field).decode()
        elif field.number in _NUMBERS:
            value = signed(_number(field))
        elif field.number == _STRING:
            value = _bytes(field).decode()
        elif field.number == _BOOL_LIST:
            value = _flags(_bytes(field))
    return {} if value is None else {name: value}


def _flags(message: bytes) -> str:
    """A list of truths as '1' and '0'."""
    numbers = (one for field in fields_of(message) for one in repeated_varints(field.value))
    return "".join("1" if number else "0" for number in numbers)


def _collective(attributes: dict[str, int | str]) -> str:
    number = attributes.get("comm_type")
    if isinstance(number, int) and 0 <= number < len(_COLLECTIVES):
        return _COLLECTIVES[number].removesuffix("_BLOCK")
    return f"collective {number}"[:60]


def _group(attributes: dict[str, int | str]) -> str:
    name = attributes.get("pg_name", "")
    dimensions = str(attributes.get("involved_dim", ""))
    if name != "":
        return str(name)[:60]
    # Where no dimension is left out, all ranks take part.
    return f"{DIMENSIONS}{dimensions}"[:60] if "0" in dimensions else ALL_RANKS


def _size(attributes: dict[str, int | str]) -> int | None:
    size = attributes.get("comm_size")
    if size is None:
        return None
    if not isinstance(size, int) or not 0 <= size <= MAX_SIZE_BYTES:
        raise DamagedMessageError("comm_size is no number of bytes")
    return size


def _number(field: Field) -> int:
    if isinstance(field.value, int):
        return field.value
    raise DamagedMessageError(f"field {field.number} is no number")


def _bytes(field: Field) -> bytes:
    if isinstance(field.value, bytes):
        return field.value
    raise DamagedMessageError(f"field {field.number} has no length")
