"""How flows divide the links they share, as a fluid. Pure.

``fair``: at every port the jobs divide the rate evenly, and a job's flows its share. ``fifo``:
every flow keeps the same bounded window in the shared queue, and so gets the same share of what
leaves it. Both are max-min fair over the whole network: what a flow cannot use elsewhere, others
take.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from traces.cluster import Port, Sharing

SHARINGS = (Sharing.FAIR, Sharing.FIFO)
"""The disciplines that ``allocate`` knows."""


@dataclass(frozen=True)
class Flow:
    """A flow that has bytes to send now."""

    job: str
    path: tuple[Port, ...]
    limit_bps: float = math.inf


def allocate(
    flows: Sequence[Flow], capacity_bps: Mapping[Port, float], sharing: Sharing
) -> list[float]:
    """Rate of each of ``flows`` in bit/s, in their order. A flow without links is infinitely fast.

    sharing: one of SHARINGS.
    Progressive filling: find the flows that their links hold to the lowest rate, fix them, repeat.
    """
    sharers: list[Hashable] = [
        flow.job if sharing is Sharing.FAIR else index for index, flow in enumerate(flows)
    ]
    rates: list[float | None] = [None if flow.path else flow.limit_bps for flow in flows]
    on_port: dict[Port, list[int]] = defaultdict(list)
    for index, flow in enumerate(flows):
        for port in flow.path:
            on_port[port].append(index)
    while any(rate is None for rate in rates):
        offered: dict[int, float] = {}
        for port, members in on_port.items():
            for index, rate_bps in _offer(members, rates, sharers, capacity_bps[port]).items():
                offered[index] = min(offered.get(index, flows[index].limit_bps), rate_bps)
        lowest = min(offered.values())
        for index, rate_bps in offered.items():
            if rate_bps <= lowest * (1 + 1e-12):
                rates[index] = lowest
    return [rate for rate in rates if rate is not None]


def _offer(
    members: Sequence[int],
    rates: Sequence[float | None],
    sharers: Sequence[Hashable],
    capacity_bps: float,
) -> dict[int, float]:
    """What a port offers each of its flows that is not fixed yet.

    The level L solves sum over sharers of max(fixed, L) = capacity, where a sharer without open
    flows takes what it has fixed.
    """
    fixed: dict[Hashable, float] = defaultdict(float)
    open_flows: dict[Hashable, list[int]] = defaultdict(list)
    for index in members:
        rate = rates[index]
        if rate is None:
            open_flows[sharers[index]].append(index)
        else:
            fixed[sharers[index]] += rate
    if not open_flows:
        return {}
    taken_bps = sum(fixed[sharer] for sharer in fixed if sharer not in open_flows)
    level_bps = (capacity_bps - taken_bps) / len(open_flows)
    return {
        index: max(level_bps - fixed[sharer], 0.0) / len(indices)
        for sharer, indices in open_flows.items()
        for index in indices
    }
