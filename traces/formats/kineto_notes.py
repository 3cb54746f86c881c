"""Says in plain words what the import of a Kineto trace left out or assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from traces.communication_trace import IterationRecord
from traces.formats.communication_notes import counted, notes_on_groups, notes_on_left_out
from traces.formats.kineto_collectives import FoundCollectives
from traces.formats.kineto_events import KinetoEvents
from traces.formats.kineto_ranks import ComparedRanks
from traces.quantities import format_duration


def notes_on_collectives(left_out: Counter[str], found: FoundCollectives) -> list[str]:
    """What was left out of the iterations, by reason, and what of others is not sure."""
    notes = notes_on_left_out(left_out)
    if found.coalesced:
        notes.append(
            f"{counted(found.coalesced, 'collective')} had no NCCL kernel of their own, and the "
            "kernel launched next names none (coalesced): taken as one with it"
        )
    if found.of_all:
        notes.append(
            "the size of its group is not said and taken to be that of the job: "
            f"{counted(found.of_all, 'collective')}"
        )
    without_kernel = sum(not collective.kernels for collective in found.collectives)
    if without_kernel:
        notes.append(
            f"{counted(without_kernel, 'collective')} had no NCCL kernel of their own: taken as "
            "ready when the host issued them and the GPU work issued before them had ended"
        )
    return notes


def notes_on_ranks(ranks: ComparedRanks, world_size: int | None, num_steps: int) -> list[str]:
    """What the traces of other ranks said of the first one's collectives, if there are any."""
    if ranks.count == 1:
        return [
            "how long the NCCL kernels of this rank waited for slower ranks, the traces of those "
            "would tell: without them it is taken as waiting for the network"
        ]
    notes = [
        f"the NCCL kernels of this rank waited for slower ranks for "
        f"{format_duration(ranks.waited_s / num_steps)} of an iteration on average, which is none "
        "of the network's doing"
    ]
    if world_size is not None and ranks.count < world_size:
        notes.append(
            f"there are traces of {ranks.count} of {world_size} ranks: waiting for the others is "
            "not known"
        )
    if ranks.alone:
        notes.append(
            "in the trace of no other rank, and so not free of waiting: "
            f"{counted(ranks.alone, 'collective')}"
        )
    if ranks.unlike:
        notes.append(
            f"{ranks.unlike} of {ranks.count} ranks communicate otherwise than the first one, "
            "whose demand this is"
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
