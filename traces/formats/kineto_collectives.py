"""The collectives of a trace: which host record and which kernels are one, and their bytes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from traces.formats.collectives import COALESCING, MOVES_NOTHING, operation_of, wire_factor
from traces.formats.kineto_events import (
    UNKNOWN_ID,
    CollectiveMetadata,
    HostRecord,
    NcclKernel,
)

# c10::toString of the scalar types (torch/headeronly/core/ScalarType.h) and torch's public names.
DATA_TYPES = {
    "Bool": "bool",
    "Byte": "uint8",
    "Char": "int8",
    "Float8_e4m3fn": "float8_e4m3fn",
    "Float8_e4m3fnuz": "float8_e4m3fnuz",
    "Float8_e5m2": "float8_e5m2",
    "Float8_e5m2fnuz": "float8_e5m2fnuz",
    "Short": "int16",
    "UInt16": "uint16",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Int": "int32",
    "UInt32": "uint32",
    "Float": "float32",
    "Long": "int64",
    "UInt64": "uint64",
    "Double": "float64",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}


def element_bytes(dtype: str) -> int:
    """Bytes of one element: 'float32' -> 4. ``dtype`` is one of the names in DATA_TYPES."""
    bits = re.search(r"\d+", dtype)
    return int(bits[0]) // 8 if bits and int(bits[0]) > 8 else 1


WITHOUT_SIZES = "the trace does not say its name, data type and size"


@dataclass(frozen=True)
class Collective:
    """A collective that moves bytes between two workers or more.

    issued_s: when the host issued it. kernels: the indices of its NCCL kernels, none where the
    trace joins none to it. elements: of the full buffer, the larger of input and output.
    group, sequence: as in CollectiveMetadata.
    """

    operation: str
    dtype: str
    elements: int
    group_size: int
    issued_s: float
    kernels: tuple[int, ...]
    group: str
    sequence: int | None

    @property
    def buffer_bytes(self) -> int:
        """Size of the full buffer."""
        return self.elements * element_bytes(self.dtype)

    @property
    def wire_bytes(self) -> float:
        """What one worker puts on the wire."""
        return self.buffer_bytes * wire_factor(self.operation, self.group_size)


@dataclass(frozen=True)
class FoundCollectives:
    """The collectives of a trace, by the time of issue.

    left_out: how many are not among them, by reason. coalesced: how many have kernels that name
    none, and were joined to them by their order. of_all: how many do not say the size of their
    group, which is taken to be that of the job.
    """

    collectives: tuple[Collective, ...]
    left_out: Counter[str]
    coalesced: int
    of_all: int


def find_collectives(
    records: Sequence[HostRecord],
    kernels: Sequence[NcclKernel],
    kernel_issued_s: Sequence[float],
    world_size: int | None,
) -> FoundCollectives:
    """Join host records to kernels by their external id, and coalesced ones by their order.

    kernel_issued_s: when the host launched each kernel. world_size: of groups whose size is not
    said; None where the trace does not say that either.
    """
    unclaimed: defaultdict[int, list[int]] = defaultdict(list)
    for index, kernel in enumerate(kernels):
        unclaimed[kernel.external_id].append(index)
    pieces = []
    for record in records:
        known = record.external_id != UNKNOWN_ID
        joined = unclaimed.pop(record.external_id, []) if known else []
        noted_by_kernels = (kernels[index].metadata for index in joined)
        metadata = record.metadata or next(filter(None, noted_by_kernels), None)
        pieces.append(_Piece(metadata, record.issued_s, tuple(joined)))
    pieces += [
        _Piece(kernels[index].metadata, kernel_issued_s[index], (index,))
        for index in sorted(index for indices in unclaimed.values() for index in indices)
    ]
    shared = _kernels_by_order(pieces, kernel_issued_s, world_size)
    taken = set(shared.values())
    pieces = [
        piece._replace(kernels=shared.get(place, piece.kernels))
        for place, piece in enumerate(pieces)
        if place in shared or piece.kernels not in taken
    ]
    outcomes = [_collective(piece, world_size) for piece in pieces]
    return FoundCollectives(
        tuple(
            sorted(
                (outcome for outcome in outcomes if isinstance(outcome, Collective)),
                key=lambda collective: collective.issued_s,
            )
        ),
        Counter(outcome for outcome in outcomes if isinstance(outcome, str)),
        coalesced=len(shared),
        of_all=sum(
            isinstance(outcome, Collective) and piece.is_of_all
            for outcome, piece in zip(outcomes, pieces, strict=True)
        ),
    )


class _Piece(NamedTuple):
    """What is known of a collective, when it was issued, and its kernels."""

    metadata: CollectiveMetadata | None
    issued_s: float
    kernels: tuple[int, ...]

    @property
    def is_of_all(self) -> bool:
        """Whether the size of its group is not said."""
        return self.metadata is not None and self.metadata.group_size is None

    @property
    def is_nameless(self) -> bool:
        """Whether its kernels may be those of collectives that were coalesced."""
        data = self.metadata
        return bool(self.kernels) and (data is None or operation_of(data.name) in COALESCING)


def _kernels_by_order(
    pieces: Sequence[_Piece], kernel_issued_s: Sequence[float], world_size: int | None
) -> dict[int, tuple[int, ...]]:
    """The kernels of each of ``pieces`` that has none, if it was coalesced with others.

    The host issues them one by one, and then launches one kernel whose metadata name none of them:
    theirs are those that it issued since it launched the kernel before.
    """
    waiting = sorted(
        (piece.issued_s, place)
        for place, piece in enumerate(pieces)
        if not piece.kernels and isinstance(_collective(piece, world_size), Collective)
    )
    launches = sorted(
        (
            min(kernel_issued_s[index] for index in piece.kernels)
            if piece.is_nameless
            else piece.issued_s,
            place,
        )
        for place, piece in enumerate(pieces)
        if piece.kernels
    )
    shared: dict[int, tuple[int, ...]] = {}
    first = 0
    for launched_s, place in launches:
        behind = bisect_right(waiting, (launched_s, len(pieces)))
        if pieces[place].is_nameless:
            shared.update((one, pieces[place].kernels) for _, one in waiting[first:behind])
        first = behind
    return shared


def _collective(piece: _Piece, world_size: int | None) -> Collective | str:
    """The collective, or in words why it is none that can be counted."""
    metadata = piece.metadata
    if metadata is None:
        return WITHOUT_SIZES
    operation = operation_of(metadata.name)
    group_size = world_size if metadata.group_size is None else metadata.group_size
    if operation in MOVES_NOTHING:
        return f"'{metadata.name}' moves no data"
    if operation is None:
        return f"'{metadata.name}' is not a collective whose bytes on the wire are known"
    if group_size is None:
        return f"the trace does not say how many workers the group of '{metadata.name}' has"
    if group_size < 2:
        return f"'{metadata.name}' in a group of one worker moves nothing"
    if metadata.elements == 0:
        return f"'{metadata.name}' of no elements moves nothing"
    if metadata.dtype not in DATA_TYPES:
        return f"the size of data type '{metadata.dtype}' is not known"
    return Collective(
        operation,
        DATA_TYPES[metadata.dtype],
        metadata.elements,
        group_size,
        piece.issued_s,
        piece.kernels,
        metadata.group,
        metadata.sequence,
    )
