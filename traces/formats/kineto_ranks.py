"""Brings the traces of several ranks together: how long a collective takes without waiting. Pure.

An NCCL kernel begins when its own rank is ready, and so lasts while it waits for the slowest rank
of its group, too. That one waits for nobody: the shortest of a collective's kernels is what the
network takes. The clocks of ranks are not compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from traces.formats.kineto_collectives import Collective
from traces.formats.kineto_events import NcclKernel, Step

Identity = tuple[str | int, ...]
"""What all ranks of a group call the same collective."""

_POINT_TO_POINT = frozenset({"send", "recv"})


@dataclass(frozen=True)
class ComparedRanks:
    """The NCCL kernels of the first rank, beginning when the slowest rank was ready.

    count: ranks. waited_s: by how much later, in sum. alone: its collectives that
    are in no other trace, of two traces or more. unlike: ranks with other collectives than its own.
    """

    kernels: list[NcclKernel]
    count: int
    waited_s: float
    alone: int
    unlike: int


class RanksOfJob:
    """Takes the collectives and kernels of the first rank, then of one after the other."""

    def __init__(
        self,
        steps: Sequence[Step],
        collectives: Sequence[Collective],
        kernels: Sequence[NcclKernel],
    ) -> None:
        self._kernels = kernels
        self._content = _content(collectives)
        self._own = {
            identity: collective
            for identity, collective in _identified(steps, collectives)
            if collective.kernels
        }
        self._shortest_s = {each: _span_s(mine, kernels) for each, mine in self._own.items()}
        self._shared: set[Identity] = set()
        self._num_comparable = sum(
            bool(one.kernels) and one.operation not in _POINT_TO_POINT for one in collectives
        )
        self._count = 1
        self._unlike = 0

    def add(
        self,
        steps: Sequence[Step],
        collectives: Sequence[Collective],
        kernels: Sequence[NcclKernel],
    ) -> None:
        """Those of another rank."""
        self._count += 1
        self._unlike += _content(collectives) != self._content
        for identity, collective in _identified(steps, collectives):
            if identity in self._shortest_s and collective.kernels:
                length_s = _span_s(collective, kernels)
                self._shortest_s[identity] = min(self._shortest_s[identity], length_s)
                self._shared.add(identity)

    def compared(self) -> ComparedRanks:
        """What all of them say of the first one's kernels."""
        kernels = list(self._kernels)
        for identity, collective in self._own.items():
            mine = [kernels[index] for index in collective.kernels]
            ready_s = max(one.end_s for one in mine) - self._shortest_s[identity]
            for index, kernel in zip(collective.kernels, mine, strict=True):
                start_s = min(max(kernel.start_s, ready_s), kernel.end_s)
                kernels[index] = replace(kernel, start_s=start_s)
        waited_s = sum(
            now.start_s - before.start_s for now, before in zip(kernels, self._kernels, strict=True)
        )
        alone = self._num_comparable - len(self._shared) if self._count > 1 else 0
        return ComparedRanks(kernels, self._count, waited_s, alone, self._unlike)


def _content(collectives: Iterable[Collective]) -> int:
    """What a rank sends, with its sizes and in order."""
    return hash(tuple((one.operation, one.buffer_bytes, one.group_size) for one in collectives))


def _span_s(collective: Collective, kernels: Sequence[NcclKernel]) -> float:
    mine = [kernels[index] for index in collective.kernels]
    return max(one.end_s for one in mine) - min(one.start_s for one in mine)


def _identified(
    steps: Sequence[Step], collectives: Sequence[Collective]
) -> Iterable[tuple[Identity, Collective]]:
    """The ``collectives`` in order of issue, each with its identity.

    By the sequence number in its group where there is one; else by its place among those like it in
    the group and the step. Not sends and receives, which one rank alone has.
    """
    begins_s = [step.start_s for step in steps]
    seen: Counter[Identity] = Counter()
    for collective in collectives:
        if collective.operation in _POINT_TO_POINT:
            continue
        kind: Identity
        if collective.sequence is not None:
            kind = (collective.group, collective.operation, collective.sequence)
        else:
            place = bisect_right(begins_s, collective.issued_s) - 1
            if place < 0 or collective.issued_s >= steps[place].end_s:
                continue
            name = steps[place].name
            kind = (collective.group, collective.operation, name, collective.buffer_bytes)
        seen[kind] += 1
        yield (*kind, seen[kind]), collective
