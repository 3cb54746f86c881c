"""How flows divide the links they share, as a fluid. Pure.

``fair``: at every port the jobs divide the rate evenly, and a job's flows its share. ``weighted``:
by the jobs' weights. ``fifo``: every flow keeps the same bounded window in the shared queue, and so
gets the same share of what leaves it. These are (weighted) max-min fair over the whole network:
what a flow cannot use elsewhere, others take. ``priority``: jobs of the greatest priority divide
the rates fairly, those of the next what is left, and so on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from harness.simulation.entangled import solve_entangled
from traces.cluster import Port, Sharing

SHARINGS = tuple(Sharing)
"""The disciplines that ``allocate`` knows."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Flow:
    """A flow that has bytes to send now. weight, priority: its job's."""

    job: str
    path: tuple[Port, ...]
    limit_bps: float = math.inf
    weight: float = 1.0
    priority: int = 0


def allocate(
    flows: Sequence[Flow], capacity_bps: Mapping[Port, float], sharing: Sharing
) -> list[float]:
    """Rate of each of ``flows`` in bit/s, in their order. A flow without links is infinitely fast.

    sharing: one of SHARINGS.
    """
    if sharing is not Sharing.PRIORITY:
        return _fill(flows, capacity_bps, sharing)
    rates = [0.0] * len(flows)
    left_bps = dict(capacity_bps)
    for priority in sorted({flow.priority for flow in flows}, reverse=True):
        mine = [index for index, flow in enumerate(flows) if flow.priority == priority]
        filled = _fill([flows[index] for index in mine], left_bps, Sharing.FAIR)
        for index, rate_bps in zip(mine, filled, strict=True):
            rates[index] = rate_bps
            for port in flows[index].path:
                left_bps[port] -= rate_bps
        # Rounding must not give a port that is full to those who come after.
        for port, rate_bps in left_bps.items():
            if rate_bps < _ROUNDING * capacity_bps[port]:
                left_bps[port] = 0.0
    return rates


def _fill(
    flows: Sequence[Flow], capacity_bps: Mapping[Port, float], sharing: Sharing
) -> list[float]:
    """Progressive filling: fix the flows whose rate no longer depends on others, repeat.

    Offers only grow as flows are fixed. So a flow is done at its own limit, and so are all flows of
    a port none of which another port holds to less. The lowest offer would not do: a job with many
    flows offers each of them little, also where another job is about to leave it more.
    """
    by_flow = sharing is Sharing.FIFO
    sharers: list[Hashable] = [index if by_flow else flow.job for index, flow in enumerate(flows)]
    weights = [flow.weight if sharing is Sharing.WEIGHTED else 1.0 for flow in flows]
    rates: list[float | None] = [None if flow.path else flow.limit_bps for flow in flows]
    on_port: dict[Port, list[int]] = defaultdict(list)
    for index, flow in enumerate(flows):
        for port in flow.path:
            on_port[port].append(index)
    while any(rate is None for rate in rates):
        offers = [
            _offer(members, rates, sharers, weights, capacity_bps[port])
            for port, members in on_port.items()
        ]
        least: dict[int, float] = {}
        for offer in offers:
            for index, rate_bps in offer.items():
                least[index] = min(least.get(index, flows[index].limit_bps), rate_bps)
        done = {index for index, rate_bps in least.items() if rate_bps == flows[index].limit_bps}
        for offer in offers:
            if all(rate_bps <= least[index] * (1 + _ROUNDING) for index, rate_bps in offer.items()):
                done.update(offer)
        if not done:
            least = solve_entangled(
                least, rates, on_port, sharers, weights, capacity_bps, [f.limit_bps for f in flows]
            )
            done = set(least)
        for index in done:
            rates[index] = least[index]
    return [rate for rate in rates if rate is not None]


def _offer(
    members: Sequence[int],
    rates: Sequence[float | None],
    sharers: Sequence[Hashable],
    weights: Sequence[float],
    capacity_bps: float,
) -> dict[int, float]:
    """What a port offers each of its flows that is not fixed yet.

    The level L solves sum over sharers of max(fixed, L x weight) = capacity, where a sharer without
    open flows takes what it has fixed.
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
    open_weight = sum(weights[indices[0]] for indices in open_flows.values())
    level_bps = max(capacity_bps - taken_bps, 0.0) / open_weight
    return {
        index: max(level_bps * weights[index] - fixed[sharer], 0.0) / len(indices)
        for sharer, indices in open_flows.items()
        for index in indices
    }
