"""Says in plain words what the import of a Kineto trace left out or assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from traces.formats.kineto_collectives import Collective
from traces.formats.kineto_events import KinetoEvents
from traces.formats.kineto_iterations import CollectiveRecord, IterationRecord
from traces.quantities import format_duration, format_size

MAX_REASONS = 20


def notes_on_collectives(left_out: Counter[str], collectives: Sequence[Collective]) -> list[str]:
    """What was left out of the iterations, by reason, and what has no kernel to time it by."""
    notes = [
        f"left out {_counted(count, 'collective')}: {reason}"
        for reason, count in left_out.most_common(MAX_REASONS)
    ]
    others = sum(left_out.values()) - sum(dict(left_out.most_common(MAX_REASONS)).values())
    if others:
        notes.append(f"left out {_counted(others, 'collective')} for other reasons")
    without_kernel = sum(not collective.kernels for collective in collectives)
    if without_kernel:
        notes.append(
            f"{_counted(without_kernel, 'collective')} had no NCCL kernel of their own: taken as "
            "ready when the host issued them and the GPU work issued before them had ended"
        )
    return notes


def notes_on_iterations(
    iterations: Sequence[IterationRecord], representative: Sequence[IterationRecord]
) -> list[str]:
    """Iterations with other collectives than the usual ones, and the waiting that was taken out."""
    usual = {iteration.index for iteration in representative}
    others = [iteration.name for iteration in iterations if iteration.index not in usual]
    notes = []
    if others:
        named = ", ".join(others[:MAX_REASONS]) + (", ..." if len(others) > MAX_REASONS else "")
        notes.append(
            f"left out {len(others)} of {_counted(len(iterations), 'iteration')}, whose "
            f"collectives are not the most common ones: {named}"
        )
    waited_s = sum(one.duration_s - one.compute_s for one in representative) / len(representative)
    notes.append(
        f"computing stood still for the network of the traced machine for "
        f"{format_duration(waited_s)} of an iteration on average; this is in the measured "
        "iteration time, and not in the compute time"
    )
    return notes


def notes_on_transfers(
    received: Sequence[CollectiveRecord], negligible: Sequence[CollectiveRecord], total_bytes: float
) -> list[str]:
    """What of one iteration is not in its demand."""
    notes = []
    if received:
        size = format_size(sum(one.wire_bytes for one in received))
        notes.append(
            f"left out {_counted(len(received), 'receive')} of an iteration, {size}: another rank "
            "sends them, and the trace of that rank has them"
        )
    if negligible:
        size_bytes = sum(one.wire_bytes for one in negligible)
        notes.append(
            f"left out {_counted(len(negligible), 'small transfer')} of an iteration "
            f"({', '.join(sorted({one.name for one in negligible}))}), {size_bytes:,.0f} bytes or "
            f"{size_bytes / total_bytes:.2%} of what it sends: too small to be emulated"
        )
    return notes


def notes_on_trace(
    events: KinetoEvents, representative: Sequence[IterationRecord], num_gpus: int
) -> list[str]:
    """What the trace cannot say."""
    notes = []
    sizes = sorted({one.group_size for item in representative for one in item.collectives})
    if sizes != [num_gpus]:
        notes.append(
            f"the groups have {', '.join(map(str, sizes))} workers, the job {num_gpus}: bytes are "
            "those of the groups, and the pattern of each transfer spans all workers of the job"
        )
    if events.world_size is None:
        notes.append("the trace does not say the world size: taken from its largest group")
    if not events.work_start_s:
        notes.append(
            "the trace has no GPU kernels: the compute time includes any waiting for the network, "
            "and computing is taken to wait for the last transfer"
        )
    elif not events.call_s:
        notes.append(
            "the trace has no launching calls: a gap of the GPU that ends after a collective is "
            "taken as waiting for it"
        )
    return notes


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
