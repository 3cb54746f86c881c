"""Addresses of servers and links, and the routes between them. Pure.

A server has one address for each path variant in use, all on its loopback: whoever sends to the
address of a variant has its packets take that variant's path at every hop, since the next hop
follows from node, destination and variant alone. Servers stand side by side in the address space,
so that routes to neighbours join into a few prefixes.
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from traces.cluster import Cluster, Port

_FIRST_LINK_ADDRESS = int(ipaddress.IPv4Address("10.0.0.0"))
_FIRST_SERVER_ADDRESS = int(ipaddress.IPv4Address("10.1.0.0"))  # of the first variant in use
_SERVER_BITS = 16

MOST_SERVERS = 2**_SERVER_BITS
MOST_LINKS = 2**_SERVER_BITS // 2


@dataclass(frozen=True)
class Addresses:
    """Of one network. variants: the path variants in use, ascending."""

    cluster: Cluster
    variants: tuple[int, ...]

    @staticmethod
    def of(cluster: Cluster, variants: Iterable[int]) -> Addresses:
        """Addresses for ``variants`` and for 0. ValueError where there are not enough of them."""
        if len(cluster.servers) > MOST_SERVERS or len(cluster.links) > MOST_LINKS:
            raise ValueError(f"more than {MOST_SERVERS} servers or {MOST_LINKS} links")
        return Addresses(cluster, tuple(sorted({0, *variants})))

    def server(self, server: str, variant: int = 0) -> str:
        """The address of ``server`` over ``variant``. KeyError where that is not in use."""
        return str(ipaddress.IPv4Address(self._first[variant] + self._position[server]))

    @functools.cached_property
    def _first(self) -> Mapping[int, int]:
        return {
            variant: _FIRST_SERVER_ADDRESS + (place << _SERVER_BITS)
            for place, variant in enumerate(self.variants)
        }

    @functools.cached_property
    def _position(self) -> Mapping[str, int]:
        return {server: position for position, server in enumerate(self.cluster.servers)}

    def routes(self, node: str) -> Iterator[tuple[int, str, str]]:
        """(variant, prefix, neighbour) of ``node``, the prefixes as few as the order allows."""
        nodes = self.cluster.nodes
        neighbours = list(self.cluster.graph.neighbors(node))
        for variant, first in self._first.items():
            if node in self._position and len(neighbours) == 1:
                for prefix in _prefixes(first, first + 2**_SERVER_BITS):
                    yield variant, prefix, neighbours[0]
                continue
            hops = self._tables[variant][self._row[node]]
            ends = (np.flatnonzero(np.diff(hops)) + 1).tolist()
            for begin, end in zip((0, *ends), (*ends, len(hops)), strict=True):
                if hops[begin] < 0:
                    continue  # the node itself
                for prefix in _prefixes(first + begin, first + end):
                    yield variant, prefix, nodes[hops[begin]]

    @functools.cached_property
    def _row(self) -> Mapping[str, int]:
        return {node: row for row, node in enumerate(self.cluster.nodes)}

    @functools.cached_property
    def _tables(self) -> Mapping[int, np.ndarray[tuple[int, int], np.dtype[np.int32]]]:
        return {variant: self.cluster.next_hops(variant) for variant in self.variants}


def _prefixes(begin: int, end: int) -> Iterator[str]:
    """The fewest prefixes that hold the addresses from ``begin`` on, up to but not ``end``."""
    while begin < end:
        aligned_bits = (begin & -begin).bit_length() - 1
        bits = min(aligned_bits, (end - begin).bit_length() - 1)
        yield f"{ipaddress.IPv4Address(begin)}/{32 - bits}"
        begin += 2**bits


def port_addresses(cluster: Cluster) -> Mapping[Port, str]:
    """Address of every port: the two ends of a link share a /31."""
    return {
        port: str(ipaddress.IPv4Address(_FIRST_LINK_ADDRESS + index))
        for index, port in enumerate(cluster.ports)
    }
