"""Shortest paths between servers, several equal ones as numbered variants. Pure arithmetic.

Where a packet goes next follows from the node, the destination and the variant, and from nothing
else: forwarding by destination with one address per (server, variant) realises it, and no switch
has to hash. All destinations behind the same neighbours share one table, so that a fat-tree of
1,024 servers takes 128 of them. Servers do not forward.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

MAX_VARIANTS = 64
"""Most variants of one pair: all paths between two pods of a fat-tree of 1,024 servers, and as many
addresses as 1,024 servers have in one /16."""

_NOWHERE = -1
_HERE = -2  # the destination is a neighbour

Indices = NDArray[np.int64]


def by_number(name: str) -> tuple[list[str | int], str]:
    """A key that sorts names as people count: ``spine2`` before ``spine10``."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name


class Routes:
    """The shortest paths of a graph.

    nodes: every node; positions in it stand for them. forwarding: those that pass packets on.
    links: pairs of names, each pair once.
    """

    def __init__(
        self,
        nodes: Sequence[str],
        forwarding: Collection[str],
        links: Iterable[tuple[str, str]],
    ) -> None:
        self._nodes = tuple(nodes)
        self._position = {node: position for position, node in enumerate(self._nodes)}
        self._neighbours: list[list[int]] = [[] for _ in self._nodes]
        for a, b in links:
            self._neighbours[self._position[a]].append(self._position[b])
            self._neighbours[self._position[b]].append(self._position[a])
        forwards = {self._position[node] for node in forwarding}
        ranks = np.empty(len(self._nodes), dtype=np.int64)
        for rank, node in enumerate(sorted(self._nodes, key=by_number)):
            ranks[self._position[node]] = rank
        hops = [
            (tail, head)
            for tail, heads in enumerate(self._neighbours)
            for head in heads
            if head in forwards
        ]
        tails, heads = np.array(hops, dtype=np.int64).reshape(-1, 2).T
        order = np.lexsort((ranks[heads], tails))
        self._tails, self._heads = tails[order], heads[order]
        self._ways: dict[tuple[int, ...], _Ways] = {}

    def next_hop(self, node: str, destination: str, variant: int = 0) -> str:
        """The neighbour that ``node`` sends to. KeyError where there is no way."""
        at, to = self._position[node], self._position[destination]
        following = self._next(at, to, self._ways_to(to).next_hops(_checked(variant)))
        return self._nodes[following]

    def path(self, source: str, destination: str, variant: int = 0) -> tuple[str, ...]:
        """The nodes from ``source`` to ``destination``, both included. KeyError as next_hop."""
        at, to = self._position[source], self._position[destination]
        next_hops = self._ways_to(to).next_hops(_checked(variant))
        nodes = [at]
        while at != to:
            at = self._next(at, to, next_hops)
            nodes.append(at)
        return tuple(self._nodes[node] for node in nodes)

    def num_variants(self, source: str, destination: str) -> int:
        """How many variants, from 0 on, are paths that differ from each other.

        All shortest paths, at most MAX_VARIANTS, where the nodes that offer a choice offer as many
        paths through each neighbour: leaf-spines, fat-trees. Elsewhere there may be fewer.
        """
        if source == destination:
            return 1
        ways = self._ways_to(self._position[destination])
        most = int(ways.num_paths[self._position[source]])
        if ways.even:
            return most
        seen: set[tuple[str, ...]] = set()
        for variant in range(most):
            path = self.path(source, destination, variant)
            if path in seen:
                return variant
            seen.add(path)
        return most

    def table(self, num_destinations: int, variant: int = 0) -> NDArray[np.int32]:
        """Every next hop to the first ``num_destinations`` nodes, as positions.

        Shape (nodes, destinations); -1 where a node is the destination itself or has no way.
        """
        by_destination = np.empty((num_destinations, len(self._nodes)), dtype=np.int32)
        for to in range(num_destinations):
            by_destination[to] = self._ways_to(to).next_hops(_checked(variant))
        destinations = np.arange(num_destinations, dtype=np.int32)
        found = np.where(by_destination.T == _HERE, destinations, by_destination.T)
        found[destinations, destinations] = _NOWHERE
        return found

    def _next(self, at: int, to: int, next_hops: Indices) -> int:
        following = int(next_hops[at])
        if at == to or following == _NOWHERE:
            raise KeyError(f"no next hop from {self._nodes[at]} to {self._nodes[to]}")
        return to if following == _HERE else following

    def _ways_to(self, destination: int) -> _Ways:
        neighbours = tuple(sorted(self._neighbours[destination]))
        if neighbours not in self._ways:
            self._ways[neighbours] = _Ways(
                len(self._nodes), self._tails, self._heads, np.array(neighbours, dtype=np.int64)
            )
        return self._ways[neighbours]


class _Ways:
    """The shortest ways from every node to what hangs at ``neighbours``.

    tails, heads: the hops of the graph to nodes that forward, in the order of their tails, and of
    each tail in the order in which its variants take them.
    """

    def __init__(self, num_nodes: int, tails: Indices, heads: Indices, neighbours: Indices) -> None:
        self._neighbours = neighbours
        distance = np.full(num_nodes, _NOWHERE, dtype=np.int64)
        distance[neighbours] = farthest = 1
        while True:
            reached = tails[(distance[heads] == farthest) & (distance[tails] == _NOWHERE)]
            if not len(reached):
                break
            farthest += 1
            distance[reached] = farthest
        nearer = (distance[heads] > 0) & (distance[heads] == distance[tails] - 1)
        self._tails, self._heads = tails[nearer], heads[nearer]
        # Counted to MAX_VARIANTS only: larger numbers choose nothing, and would overflow.
        self.num_paths = np.zeros(num_nodes, dtype=np.int64)
        self.num_paths[neighbours] = 1
        for hops in range(2, farthest + 1):
            here = distance[self._tails] == hops
            np.add.at(self.num_paths, self._tails[here], self.num_paths[self._heads[here]])
            np.minimum(self.num_paths, MAX_VARIANTS, out=self.num_paths)
        self._paths_through = self.num_paths[self._heads]
        self._starts = np.flatnonzero(np.diff(self._tails, prepend=-1))
        self._choices = np.diff(self._starts, append=len(self._tails))
        self._least = np.minimum.reduceat(self._paths_through, self._starts)
        self._even = self._least == np.maximum.reduceat(self._paths_through, self._starts)
        # Whether every node has as many paths through each of its choices.
        self.even = bool(self._even.all())
        self._choosing = self._tails[self._starts]
        self._before = np.cumsum(self._paths_through) - self._paths_through
        self.next_hops = functools.cache(self._next_hops)

    def _next_hops(self, variant: int) -> Indices:
        """For each node the position of the next; _HERE beside the destination.

        A node with P paths looks at ``variant`` mod P. Where each of its m choices has Q of them,
        that is a number of two digits: the lower one, to the base Q, is what the next node will
        look at, and this node takes the sum of both mod m, so that the first variants differ in
        all their choices. Where they have different numbers, each choice has a range of its own.
        """
        number = variant % self.num_paths[self._choosing]
        wanted = (number // self._least + number % self._least) % self._choices
        chosen = self._starts + wanted
        if not self.even:
            path = self._before[self._starts] + number
            in_range = np.searchsorted(self._before, path, side="right") - 1
            chosen = np.where(self._even, chosen, in_range)
        found = np.full(len(self.num_paths), _NOWHERE, dtype=np.int64)
        found[self._choosing] = self._heads[chosen]
        found[self._neighbours] = _HERE
        return found


def _checked(variant: int) -> int:
    if not 0 <= variant < MAX_VARIANTS:
        raise ValueError(f"variant {variant} is not one of 0 to {MAX_VARIANTS - 1}")
    return variant
