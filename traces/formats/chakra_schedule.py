"""When the nodes of a Chakra trace run, if no transfer takes any time.

That is the compute timeline of a demand. As ASTRA-sim runs a trace: a node is ready when all that
it waits for has ended, and the GPU and the CPU compute one node at a time, in order of readiness.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from traces.formats.chakra_nodes import COMMUNICATION, Node, NodeType


class Communication(NamedTuple):
    """A node that sends or receives, on the compute timeline.

    compute_waits: the node that the GPU computes next waits for it. work_follows: some node does.
    """

    node: Node
    ready_s: float
    compute_waits: bool
    work_follows: bool


class Schedule(NamedTuple):
    """communications: in order of their ready times. stuck: nodes that wait for each other."""

    compute_s: float
    communications: tuple[Communication, ...]
    stuck: tuple[int, ...]


def schedule_of(nodes: Mapping[int, Node]) -> Schedule:
    """Run ``nodes``, by their ids; all that they wait for is among them."""
    waiters: dict[int, list[int]] = {}
    left = {identifier: len(node.waits_for) for identifier, node in nodes.items()}
    for identifier, node in nodes.items():
        for awaited in node.waits_for:
            waiters.setdefault(awaited, []).append(identifier)
    ready = [(0.0, identifier) for identifier, count in left.items() if count == 0]
    heapq.heapify(ready)
    ready_s: dict[int, float] = dict.fromkeys((identifier for _, identifier in ready), 0.0)
    free_s = {True: 0.0, False: 0.0}  # of the CPU and of the GPU
    order: list[int] = []
    computed: dict[int, int] = {}  # places in the order in which the GPU computes
    starts_s: list[float] = []
    while ready:
        at_s, identifier = heapq.heappop(ready)
        order.append(identifier)
        node = nodes[identifier]
        end_s = at_s
        if node.type is NodeType.COMPUTE:
            start_s = max(at_s, free_s[node.is_on_cpu])
            end_s = free_s[node.is_on_cpu] = start_s + node.duration_s
            if not node.is_on_cpu:
                computed[identifier] = len(starts_s)
                starts_s.append(start_s)
        for waiter in waiters.get(identifier, ()):
            ready_s[waiter] = max(end_s, ready_s.get(waiter, 0.0))
            left[waiter] -= 1
            if left[waiter] == 0:
                heapq.heappush(ready, (ready_s[waiter], waiter))
    first = _first_computed(order, waiters, computed)
    communications = tuple(
        _communication(nodes[identifier], ready_s[identifier], starts_s, first.get(identifier))
        for identifier in order
        if nodes[identifier].type in COMMUNICATION
    )
    stuck = () if len(order) == len(nodes) else tuple(sorted(set(nodes) - set(order)))
    return Schedule(max(free_s.values()), communications, stuck)


def _first_computed(
    order: Sequence[int], waiters: Mapping[int, Sequence[int]], computed: Mapping[int, int]
) -> dict[int, int]:
    """By node, the place of the first on the GPU that waits for it, with none on it between."""
    first: dict[int, int] = {}
    for identifier in reversed(order):
        places = [
            place
            for waiter in waiters.get(identifier, ())
            if (place := computed.get(waiter, first.get(waiter))) is not None
        ]
        if places:
            first[identifier] = min(places)
    return first


def _communication(
    node: Node, ready_s: float, starts_s: Sequence[float], first: int | None
) -> Communication:
    next_place = bisect_left(starts_s, ready_s)
    return Communication(node, ready_s, first == next_place, first is not None)
