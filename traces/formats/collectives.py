"""Names of collectives in any trace, their bytes on the wire, and who sends to whom."""

from __future__ import annotations

import re

from traces.demand import Pattern

# Marks of the host's own bookkeeping. A barrier moves one element, which is nothing here.
COALESCING = frozenset({"startcoalescing", "endcoalescing", "coalesced"})
MOVES_NOTHING = frozenset({"barrier", "init", "end", "wait"}) | COALESCING

# One operation has many spellings: _allgather_base, allgather_into_tensor_coalesced, all_to_allv.
_SPELLING = re.compile(
    r"(allreduce|allgather|reducescatter|alltoall|broadcast|reduce|send|recv)"
    r"(?:intotensor|tensor|base|oop|v)?(?:coalesced)?"
)


def operation_of(name: str) -> str | None:
    """'_allgather_base' -> 'allgather'; None for a name that is not known to move data.

    ``MOVES_NOTHING`` names come back as they are, without underscores.
    """
    plain = name.lower().removeprefix("nccl:").replace("_", "")
    if plain in MOVES_NOTHING:
        return plain
    match = _SPELLING.fullmatch(plain)
    return match[1] if match else None


def wire_factor(operation: str, group_size: int) -> float:
    """Bytes that one worker puts on the wire for one byte of the full buffer.

    The buffer is the larger of input and output, so a gather counts the gathered size. Ring
    algorithms, as nccl-tests counts them for its bus bandwidth (doc/PERFORMANCE.md).
    """
    if operation == "allreduce":
        return 2 * (group_size - 1) / group_size
    if operation in ("allgather", "reducescatter", "alltoall"):
        return (group_size - 1) / group_size
    return 1.0


def pattern_of(operation: str) -> Pattern:
    """Who sends to whom: an all-to-all in all pairs, all others around a ring."""
    return Pattern.ALL_TO_ALL if operation == "alltoall" else Pattern.RING
