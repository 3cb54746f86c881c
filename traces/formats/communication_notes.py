"""Says in plain words what the import of a communication trace left out or assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from traces.communication_trace import CollectiveRecord, IterationRecord
from traces.quantities import format_size

MAX_REASONS = 20


def counted(count: int, thing: str) -> str:
    """'1 file', '2,000 files'."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def notes_on_left_out(left_out: Counter[str]) -> list[str]:
    """What was left out of the iterations, by reason."""
    notes = [
        f"left out {counted(count, 'collective')}: {reason}"
        for reason, count in left_out.most_common(MAX_REASONS)
    ]
    others = sum(left_out.values()) - sum(dict(left_out.most_common(MAX_REASONS)).values())
    if others:
        notes.append(f"left out {counted(others, 'collective')} for other reasons")
    return notes


def notes_on_iterations(
    iterations: Sequence[IterationRecord], representative: Sequence[IterationRecord]
) -> list[str]:
    """Iterations with other collectives than the usual ones."""
    usual = {iteration.index for iteration in representative}
    others = [iteration.name for iteration in iterations if iteration.index not in usual]
    if not others:
        return []
    named = ", ".join(others[:MAX_REASONS]) + (", ..." if len(others) > MAX_REASONS else "")
    return [
        f"left out {len(others)} of {counted(len(iterations), 'iteration')}, whose "
        f"collectives are not the most common ones: {named}"
    ]


def notes_on_transfers(
    received: Sequence[CollectiveRecord], negligible: Sequence[CollectiveRecord], total_bytes: float
) -> list[str]:
    """What of one iteration is not in its demand."""
    notes = []
    if received:
        size = format_size(sum(one.wire_bytes for one in received))
        notes.append(
            f"left out {counted(len(received), 'receive')} of an iteration, {size}: another rank "
            "sends them, and the trace of that rank has them"
        )
    if negligible:
        size_bytes = sum(one.wire_bytes for one in negligible)
        notes.append(
            f"left out {counted(len(negligible), 'small transfer')} of an iteration "
            f"({', '.join(sorted({one.name for one in negligible}))}), {size_bytes:,.0f} bytes or "
            f"{size_bytes / total_bytes:.2%} of what it sends: too small to be emulated"
        )
    return notes


def notes_on_groups(representative: Sequence[IterationRecord], num_gpus: int) -> list[str]:
    """Groups that are not the whole job."""
    sizes = sorted({one.group_size for item in representative for one in item.collectives})
    if sizes == [num_gpus]:
        return []
    return [
        f"the groups have {', '.join(map(str, sizes))} workers, the job {num_gpus}: bytes are "
        "those of the groups, and the pattern of each transfer spans all workers of the job"
    ]
