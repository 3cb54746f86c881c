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
_SAME_TIME = 0.05  # of the period
_PACED_BY_THE_LINK = 0.9


@dataclass(frozen=True)
class RankFit:
    """What one rank sends. share_of: of each phase's bytes, by the rank that receives them."""

    rank: int
    fit: PatternFit
    share_of: tuple[Mapping[int, float], ...]


@dataclass(frozen=True)
class SeenTransfer:
    """Bytes that go out together, ``start_s`` after the iteration began and for ``length_s``.

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


def iteration_of(ranks: Sequence[RankFit], rate_bps: float) -> SeenIteration:
    """All phases on the timeline of the first rank that has any, merged where they are a ring.

    The period is the mean of the ranks', which differ by what their fits miss.
    """
    first = ranks[0].fit
    period_s = math.fsum(rank.fit.period_s.value for rank in ranks) / len(ranks)
    seen: list[SeenTransfer] = []
    for rank in ranks:
        shift_s = rank.fit.start_s - first.start_s
        for phase, shares in zip(rank.fit.phases, rank.share_of, strict=True):
            start_s = (phase.start_s.value + shift_s) % period_s
            length_s = phase.end_s.value - phase.start_s.value
            for receiver, share in sorted(shares.items()):
                pairs = ((rank.rank, receiver),)
                sent = phase.bytes.value * share
                seen.append(SeenTransfer(start_s, length_s, sent, pairs))
    transfers = _merged(seen, period_s, len(ranks))
    return SeenIteration(period_s, rate_bps, tuple(sorted(transfers, key=lambda t: t.start_s)))


def _merged(
    transfers: Sequence[SeenTransfer], period_s: float, num_ranks: int
) -> list[SeenTransfer]:
    """Transfers that are alike as one: a ring where their pairs close one over all ranks."""
    waiting = sorted(transfers, key=lambda transfer: transfer.start_s)
    merged = []
    while waiting:
        first = waiting.pop(0)
        alike = [each for each in waiting if _are_alike(first, each, period_s)]
        waiting = [each for each in waiting if each not in alike]
        merged.append(_joined([first, *alike], num_ranks))
    return merged


def _are_alike(one: SeenTransfer, other: SeenTransfer, period_s: float) -> bool:
    apart_s = abs(one.start_s - other.start_s)
    return (
        min(apart_s, period_s - apart_s) <= _SAME_TIME * period_s
        and abs(one.length_s - other.length_s) <= _SAME_TIME * period_s
        and abs(one.bytes - other.bytes) <= _SAME_BYTES * max(one.bytes, other.bytes)
    )


def _joined(alike: Sequence[SeenTransfer], num_ranks: int) -> SeenTransfer:
    count = len(alike)
    pairs = tuple(pair for each in alike for pair in each.pairs)
    return SeenTransfer(
        start_s=alike[0].start_s,
        length_s=math.fsum(each.length_s for each in alike) / count,
        bytes=math.fsum(each.bytes for each in alike) / count,
        pairs=() if _is_ring(pairs, num_ranks) else pairs,
    )


def _is_ring(pairs: Sequence[tuple[int, int]], num_ranks: int) -> bool:
    """Whether ``pairs`` lead from 0 to 1 and so on to the last rank and back, as a Ring does."""
    return sorted(pairs) == [(rank, (rank + 1) % num_ranks) for rank in range(num_ranks)]


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
                # Nothing computes behind the last one, as an iteration begins where it ends.
                blocking=blocks and seen_transfer is not seen.transfers[-1],
                name=f"phase {len(transfers) + 1}",
            )
        )
        if blocks:
            waited_s += seen_transfer.length_s
    last_ready_s = transfers[-1].ready_s
    compute_s = last_ready_s if waits[-1] else max(seen.period_s - waited_s, last_ready_s)
    return Demand(compute_s=compute_s, transfers=tuple(transfers))


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
