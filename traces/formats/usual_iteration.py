"""From the iterations of a communication trace to the demand of the usual one."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from traces.communication_trace import CollectiveRecord, IterationRecord
from traces.demand import Demand, Transfer
from traces.formats.collectives import pattern_of

# The smallest transfers of an iteration stay out of its demand up to this part of its bytes:
# at an emulator's scaled rates they are less than a packet or two, and cannot be told from noise.
NEGLIGIBLE_PART = 0.005

Slot = tuple[CollectiveRecord, ...]
"""The same collective in each iteration."""


class Parts(NamedTuple):
    """The collectives of the usual iteration: what makes the demand, and what does not.

    sent: in order of ready times.
    """

    sent: list[Slot]
    negligible: list[Slot]
    received: list[Slot]


def most_common(iterations: Sequence[IterationRecord]) -> list[IterationRecord]:
    """The iterations with the most common sequence of collectives.

    Between equals, the later one: data-parallel training rebuilds its buckets after its first
    iteration. Empty only where no iteration has any.
    """
    counts = Counter(_sequence(iteration) for iteration in iterations if iteration.collectives)
    if not counts:
        return []
    last_seen = {_sequence(iteration): iteration.index for iteration in iterations}
    usual = max(counts, key=lambda sequence: (counts[sequence], last_seen[sequence]))
    return [iteration for iteration in iterations if _sequence(iteration) == usual]


def _sequence(iteration: IterationRecord) -> tuple[tuple[str, float, str | None], ...]:
    return tuple((one.name, one.bytes, one.dtype) for one in iteration.collectives)


def split(iterations: Sequence[IterationRecord]) -> Parts:
    """Group the collectives of ``iterations``, which have one sequence, by place and by part."""
    slots = list(zip(*(iteration.collectives for iteration in iterations), strict=True))
    received = [slot for slot in slots if slot[0].name == "recv"]
    outgoing = [slot for slot in slots if slot[0].name != "recv"]
    allowance = NEGLIGIBLE_PART * total_wire_bytes(outgoing)
    by_size = sorted(range(len(outgoing)), key=lambda place: outgoing[place][0].wire_bytes)
    running = accumulate(outgoing[place][0].wire_bytes for place in by_size)
    num_negligible = sum(total <= allowance for total in running)
    small = by_size[:num_negligible]
    # Sorting keeps the order of those that are ready at one time.
    sent = sorted((outgoing[place] for place in sorted(by_size[num_negligible:])), key=_ready_s)
    return Parts(sent, [outgoing[place] for place in small], received)


def demand_of(sent: Sequence[Slot], compute_s: float) -> Demand:
    """Medians over the iterations; ``sent`` is in order of its ready times."""
    return Demand(
        compute_s,
        tuple(
            Transfer(
                ready_s=min(_ready_s(slot), compute_s),
                bytes=slot[0].wire_bytes,
                pattern=pattern_of(slot[0].name),
                # Collectives run in order, so the last one gates the optimizer for all of them.
                blocking=_most([one.compute_waited for one in slot])
                or (slot is sent[-1] and _most([one.work_follows for one in slot])),
                name=slot[0].name,
            )
            for slot in sent
        ),
    )


def measured_s(iterations: Sequence[IterationRecord]) -> float | None:
    """The median of their durations; None where one was not measured."""
    durations_s = [one.duration_s for one in iterations if one.duration_s is not None]
    return median(durations_s) if len(durations_s) == len(iterations) else None


def total_wire_bytes(slots: Sequence[Slot]) -> float:
    """What one worker puts on the wire in an iteration of ``slots``."""
    return sum(slot[0].wire_bytes for slot in slots)


def median(values: Sequence[float]) -> float:
    """The median of one value or more."""
    return float(statistics.median(values))


def _ready_s(slot: Slot) -> float:
    return median([one.ready_s for one in slot])


def _most(answers: Sequence[bool]) -> bool:
    return 2 * sum(answers) > len(answers)
