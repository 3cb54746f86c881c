"""Rates of flows where every port waits for another one to know what it can offer. Pure.

Two jobs entangle so: at one port the first is held back by the second, which has many flows there,
and at another port the second by the first. No flow is done before the others, and all their rates
solve one system: each has what its tightest port offers it, given what the others take.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

from traces.cluster import Port

_PRECISION = 1e-11
_MOST_ROUNDS = 500


def solve_entangled(
    least: Mapping[int, float],
    rates: Sequence[float | None],
    on_port: Mapping[Port, Sequence[int]],
    sharers: Sequence[Hashable],
    weights: Sequence[float],
    capacity_bps: Mapping[Port, float],
    limits_bps: Sequence[float],
) -> dict[int, float]:
    """Rates of the flows in ``least``, which has a rate that each is sure to get.

    Port after port offers anew, given what the other ports let its flows take, until nothing moves.
    Should it never come to rest, everybody keeps what is sure.
    """
    offers: dict[int, dict[Port, float]] = {index: {} for index in least}
    found: dict[int, float] = {}
    for _ in range(_MOST_ROUNDS):
        for port, members in on_port.items():
            caps = {}
            for index in members:
                rate = rates[index]
                elsewhere = (bps for at, bps in offers.get(index, {}).items() if at != port)
                caps[index] = min((limits_bps[index], *elsewhere)) if rate is None else rate
            for index, bps in _offers(caps, sharers, weights, capacity_bps[port]).items():
                if index in offers:
                    offers[index][port] = bps
        before = found
        found = {index: min(limits_bps[index], *by.values()) for index, by in offers.items()}
        if before and all(math.isclose(found[i], before[i], rel_tol=_PRECISION) for i in found):
            return found
    return dict(least)


def _offers(
    caps: Mapping[int, float],
    sharers: Sequence[Hashable],
    weights: Sequence[float],
    capacity_bps: float,
) -> dict[int, float]:
    """What a port offers each flow that takes no more than its cap: no end to who is content."""
    flows: dict[Hashable, list[int]] = defaultdict(list)
    for index in caps:
        flows[sharers[index]].append(index)
    wanted = [
        (sum(caps[index] for index in indices) / weights[indices[0]], weights[indices[0]])
        for indices in flows.values()
    ]
    level = _water_level(wanted, capacity_bps)
    found = {}
    for (most, weight), indices in zip(wanted, flows.values(), strict=True):
        inside = [(caps[index], 1.0) for index in indices]
        own = math.inf if most <= level else _water_level(inside, level * weight)
        found.update(dict.fromkeys(indices, own))
    return found


def _water_level(wanted: Sequence[tuple[float, float]], capacity: float) -> float:
    """Where those of ``wanted`` (the most for its weight, the weight) who want more stand."""
    total = sum(weight for _, weight in wanted)
    for most, weight in sorted(wanted):
        if most * total >= capacity:
            return capacity / total
        capacity -= most * weight
        total -= weight
    return math.inf
