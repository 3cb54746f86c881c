"""The Demand of a job from what each of its ranks was seen to send. Pure.

Each rank's bytes over time are fitted by themselves; here their phases come onto one timeline, get
their receivers, and become one transfer where all ranks send in a ring.

Whether compute waits for a transfer, no run on one link can tell. On a slower link a transfer takes
longer; what follows comes later by as much if it waited, and at its old time if it did not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from profiler.demand_fit.pattern import PatternFit
from traces.demand import Demand, Pattern, Transfer
from traces.errors import BadInputError

_SAME_BYTES = 0.05
_SHORT_PAUSE = 0.05  # of the period
_TOGETHER = 0.7  # of the longer one
_PACED_BY_THE_LINK = 0.9
_FULL_LINK = 0.97
_ROUNDED = 0.02  # of the period


@dataclass(frozen=True)
class RankFit:
    """What one rank sends. share_of: of each phase's bytes, by the rank that receives them."""

    rank: int
    fit: PatternFit
    share_of: tuple[Mapping[int, float], ...]


@dataclass(frozen=True)
class SeenTransfer:
    """Bytes that go out together, ``start_s`` after the iteration began and for ``length_s``; with
    pauses that are short beside an iteration, such as between the steps of a collective.

    bytes: of each sender. pairs: empty in a ring of all ranks.
    """

    start_s: float
    length_s: float
    bytes: float
    pairs: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class SeenIteration:
    """One iteration on links of ``rate_bps``. transfers: in order of their start."""

    period_s: float
    rate_bps: float
    transfers: tuple[SeenTransfer, ...]


def iteration_of(ranks: Sequence[RankFit], rate_bps: float, begin_s: float) -> SeenIteration:
    """All phases on one timeline, merged where they are a ring.

    begin_s: when some iteration began, on the clock of the fits. The period is the mean of the
    ranks', which differ by what their fits miss.
    """
    period_s = math.fsum(rank.fit.period_s.value for rank in ranks) / len(ranks)
    seen: list[SeenTransfer] = []
    for rank in ranks:
        for phase, shares in zip(rank.fit.phases, rank.share_of, strict=True):
            start_s = (rank.fit.start_s + phase.start_s.value - begin_s) % period_s
            if start_s > (1 - _ROUNDED) * period_s:
                start_s = 0.0  # it begins with the iteration, as far as one can tell
            length_s = phase.end_s.value - phase.start_s.value
            for receiver, share in sorted(shares.items()):
                pairs = ((rank.rank, receiver),)
                sent = phase.bytes.value * share
                seen.append(SeenTransfer(start_s, length_s, sent, pairs))
    num_ranks = len({rank.rank for rank in ranks})
    transfers = _merged(_bursts(seen, period_s), num_ranks)
    return SeenIteration(period_s, rate_bps, tuple(sorted(transfers, key=lambda t: t.start_s)))


def _bursts(transfers: Sequence[SeenTransfer], period_s: float) -> list[SeenTransfer]:
    """What the same rank sends to the same one with short pauses, as one."""
    by_pair: dict[tuple[tuple[int, int], ...], list[SeenTransfer]] = {}
    for transfer in sorted(transfers, key=lambda transfer: transfer.start_s):
        bursts = by_pair.setdefault(transfer.pairs, [])
        if bursts and transfer.start_s - _end_s(bursts[-1]) <= _SHORT_PAUSE * period_s:
            before = bursts.pop()
            length_s = max(_end_s(before), _end_s(transfer)) - before.start_s
            sent = before.bytes + transfer.bytes
            bursts.append(SeenTransfer(before.start_s, length_s, sent, transfer.pairs))
        else:
            bursts.append(transfer)
    return [burst for bursts in by_pair.values() for burst in bursts]


def _end_s(transfer: SeenTransfer) -> float:
    return transfer.start_s + transfer.length_s


def _merged(transfers: Sequence[SeenTransfer], num_ranks: int) -> list[SeenTransfer]:
    """Transfers that are alike as one: a ring where their pairs close one over all ranks."""
    waiting = sorted(transfers, key=lambda transfer: transfer.start_s)
    merged = []
    while waiting:
        first = waiting.pop(0)
        alike = [each for each in waiting if _are_alike(first, each)]
        waiting = [each for each in waiting if each not in alike]
        merged.append(_joined([first, *alike], num_ranks))
    return merged


def _are_alike(one: SeenTransfer, other: SeenTransfer) -> bool:
    """Whether they carry as many bytes at about the same time: ranks of a collective begin when
    they are ready, and go on together."""
    together_s = min(_end_s(one), _end_s(other)) - max(one.start_s, other.start_s)
    return together_s >= _TOGETHER * max(one.length_s, other.length_s) and abs(
        one.bytes - other.bytes
    ) <= _SAME_BYTES * max(one.bytes, other.bytes)


def _joined(alike: Sequence[SeenTransfer], num_ranks: int) -> SeenTransfer:
    count = len(alike)
    pairs = tuple(pair for each in alike for pair in each.pairs)
    return SeenTransfer(
        start_s=math.fsum(each.start_s for each in alike) / count,
        length_s=math.fsum(each.length_s for each in alike) / count,
        bytes=math.fsum(each.bytes for each in alike) / count,
        pairs=() if _is_ring(pairs, num_ranks) else pairs,
    )


def _is_ring(pairs: Sequence[tuple[int, int]], num_ranks: int) -> bool:
    """Whether ``pairs`` lead from each rank to the next and from the last to the first, or back:
    gloo's ring goes downwards."""
    ring = [(rank, (rank + 1) % num_ranks) for rank in range(num_ranks)]
    return sorted(pairs) in (ring, sorted((after, before) for before, after in ring))


def demand_of(seen: SeenIteration, slower: SeenIteration | None = None) -> Demand:
    """The demand behind ``seen``; with the same job on a ``slower`` link, also what blocks.

    Without it only the end of the iteration waits, and only where the link paces its last transfer:
    on the link that the job was seen on the rest makes no difference.
    Raises BadInputError where the two do not have the same transfers.
    """
    if slower is None:
        waits = [*([False] * (len(seen.transfers) - 1)), _is_paced(seen)]
    else:
        waits = _waits(seen, slower)
    transfers: list[Transfer] = []
    waited_s = 0.0
    for seen_transfer, blocks in zip(seen.transfers, waits, strict=True):
        transfers.append(
            Transfer(
                ready_s=seen_transfer.start_s - waited_s,
                bytes=seen_transfer.bytes,
                pattern=Pattern.PAIRS if seen_transfer.pairs else Pattern.RING,
                pairs=seen_transfer.pairs,
                blocking=blocks,
                rate_limit_bps=_own_limit_bps(seen_transfer, seen.rate_bps),
                name=f"phase {len(transfers) + 1}",
            )
        )
        if blocks:
            waited_s += seen_transfer.length_s
    compute_s = max(seen.period_s - waited_s, transfers[-1].ready_s)
    return Demand(compute_s=compute_s, transfers=tuple(transfers))


def _own_limit_bps(transfer: SeenTransfer, link_bps: float) -> float | None:
    """The rate of a flow that the link does not pace: its sender's, or its collective's steps'."""
    flow_bps = transfer.bytes * 8 / transfer.length_s
    return flow_bps if flow_bps < _FULL_LINK * link_bps else None


def _is_paced(seen: SeenIteration) -> bool:
    """Whether the link decides how long the last transfer takes."""
    last = seen.transfers[-1]
    flow_bps = last.bytes * 8 / last.length_s
    return flow_bps >= _PACED_BY_THE_LINK * seen.rate_bps


def _waits(seen: SeenIteration, slower: SeenIteration) -> list[bool]:
    """Of each transfer, whether what follows it comes later by as much as it takes longer."""
    if len(seen.transfers) != len(slower.transfers):
        raise BadInputError(
            f"on links of two rates the job has {len(seen.transfers)} and "
            f"{len(slower.transfers)} transfers",
            allowed="rates between which its pattern stays the same",
        )
    starts = [(a.start_s, b.start_s) for a, b in zip(seen.transfers, slower.transfers, strict=True)]
    starts.append((seen.period_s, slower.period_s))
    waits = []
    for index, (fast, slow) in enumerate(zip(seen.transfers, slower.transfers, strict=True)):
        here, behind = starts[index], starts[index + 1]
        later_s = (behind[1] - here[1]) - (behind[0] - here[0])
        waits.append(later_s > (slow.length_s - fast.length_s) / 2)
    return waits
