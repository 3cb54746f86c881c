"""Bytes on the wire of collectives, and who sends to whom in one of several groups of a job.

The factors are those of ring algorithms, which NCCL's tests and trace analysers count with too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def ring_all_reduce_wire_bytes(size_bytes: float, num_workers: int) -> float:
    """Bytes that each worker sends in a ring all-reduce of ``size_bytes``: 2 (n-1)/n x size."""
    return 2 * (num_workers - 1) / num_workers * size_bytes


def all_to_all_wire_bytes(size_bytes: float, num_workers: int) -> float:
    """Bytes that each worker sends to all others of its ``size_bytes``: (n-1)/n x size."""
    return (num_workers - 1) / num_workers * size_bytes


def ring_pairs(groups: Iterable[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    """(source rank, destination rank) of a ring in each of ``groups``; none in a group of one."""
    return tuple(
        (rank, group[(position + 1) % len(group)])
        for group in groups
        if len(group) > 1
        for position, rank in enumerate(group)
    )
