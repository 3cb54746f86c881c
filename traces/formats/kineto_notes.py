"""Says in plain words what the import of a Kineto trace left out or assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from traces.communication_trace import IterationRecord
from traces.formats.communication_notes import counted, notes_on_groups, notes_on_left_out
from traces.formats.kineto_collectives import Collective
from traces.formats.kineto_events import KinetoEvents
from traces.quantities import format_duration


def notes_on_collectives(left_out: Counter[str], collectives: Sequence[Collective]) -> list[str]:
    """What was left out of the iterations, by reason, and what has no kernel to time it by."""
    notes = notes_on_left_out(left_out)
    without_kernel = sum(not collective.kernels for collective in collectives)
    if without_kernel:
        notes.append(
            f"{counted(without_kernel, 'collective')} had no NCCL kernel of their own: taken as "
            "ready when the host issued them and the GPU work issued before them had ended"
        )
    return notes


def note_on_waiting(representative: Sequence[IterationRecord]) -> str:
    """The waiting that was taken out of the compute time."""
    waited_s = sum(one.waited_s for one in representative) / len(representative)
    return (
        f"computing stood still for the network of the traced machine for "
        f"{format_duration(waited_s)} of an iteration on average; this is in the measured "
        "iteration time, and not in the compute time"
    )


def notes_on_trace(
    events: KinetoEvents, representative: Sequence[IterationRecord], num_gpus: int
) -> list[str]:
    """What the trace cannot say."""
    notes = notes_on_groups(representative, num_gpus)
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
