"""The collectives of a trace: which host record and which kernels are one, and their bytes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from traces.formats.collectives import MOVES_NOTHING, operation_of, wire_factor
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
    """

    operation: str
    dtype: str
    elements: int
    group_size: int
    issued_s: float
    kernels: tuple[int, ...]

    @property
    def buffer_bytes(self) -> int:
        """Size of the full buffer."""
        return self.elements * element_bytes(self.dtype)

    @property
    def wire_bytes(self) -> float:
        """What one worker puts on the wire."""
        return self.buffer_bytes * wire_factor(self.operation, self.group_size)


def find_collectives(
    records: Sequence[HostRecord],
    kernels: Sequence[NcclKernel],
    kernel_issued_s: Sequence[float],
) -> tuple[tuple[Collective, ...], Counter[str]]:
    """Join host records to kernels by their external id; ordered by the time of issue.

    kernel_issued_s: when the host launched each kernel, for kernels that no record names.
    Also returns what was left out: how many, by reason.
    """
    unclaimed: defaultdict[int, list[int]] = defaultdict(list)
    for index, kernel in enumerate(kernels):
        unclaimed[kernel.external_id].append(index)
    outcomes: list[Collective | str] = []
    for record in records:
        joined = [] if record.external_id == UNKNOWN_ID else unclaimed.pop(record.external_id, [])
        noted_by_kernels = (kernels[index].metadata for index in joined)
        metadata = record.metadata or next(filter(None, noted_by_kernels), None)
        outcomes.append(_collective(metadata, record.issued_s, joined))
    for index in sorted(index for indices in unclaimed.values() for index in indices):
        outcomes.append(_collective(kernels[index].metadata, kernel_issued_s[index], [index]))
    found = [outcome for outcome in outcomes if isinstance(outcome, Collective)]
    left_out = Counter(outcome for outcome in outcomes if isinstance(outcome, str))
    return tuple(sorted(found, key=lambda collective: collective.issued_s)), left_out


def _collective(
    metadata: CollectiveMetadata | None, issued_s: float, kernels: Sequence[int]
) -> Collective | str:
    """The collective, or in words why it is none that can be counted."""
    if metadata is None:
        return WITHOUT_SIZES
    operation = operation_of(metadata.name)
    if operation in MOVES_NOTHING:
        return f"'{metadata.name}' moves no data"
    if operation is None:
        return f"'{metadata.name}' is not a collective whose bytes on the wire are known"
    if metadata.group_size < 2:
        return f"'{metadata.name}' in a group of one worker moves nothing"
    if metadata.elements == 0:
        return f"'{metadata.name}' of no elements moves nothing"
    if metadata.dtype not in DATA_TYPES:
        return f"the size of data type '{metadata.dtype}' is not known"
    return Collective(
        operation,
        DATA_TYPES[metadata.dtype],
        metadata.elements,
        metadata.group_size,
        issued_s,
        tuple(kernels),
    )
