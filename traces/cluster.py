"""Servers, switches and links, and the paths between servers. Pure data over a NetworkX graph."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum

import networkx as nx


class Sharing(StrEnum):
    """How a port's queue divides its rate: evenly among jobs, or first come, first served."""

    FAIR = "fair"
    FIFO = "fifo"


class Fabric(StrEnum):
    """``lossless``: bounded windows, no port ever drops, as RoCE with PFC."""

    LOSSLESS = "lossless"


@dataclass(frozen=True, order=True)
class Port:
    """The egress of ``node`` towards ``peer``: one direction of a link."""

    node: str
    peer: str

    def __str__(self) -> str:
        return f"{self.node}->{self.peer}"


@dataclass(frozen=True)
class Link:
    """A bidirectional link between two nodes."""

    a: str
    b: str
    rate_bps: float

    @property
    def ports(self) -> tuple[Port, Port]:
        """Both directions."""
        return Port(self.a, self.b), Port(self.b, self.a)


@dataclass(frozen=True)
class Cluster:
    """Servers and switches joined by links; every port has the same sharing discipline.

    Routes are shortest paths; among equal ones the first by name, so that they are the same
    on every machine.
    """

    servers: tuple[str, ...]
    switches: tuple[str, ...]
    links: tuple[Link, ...]
    sharing: Sharing = Sharing.FAIR
    fabric: Fabric = Fabric.LOSSLESS

    @functools.cached_property
    def graph(self) -> nx.Graph[str]:
        """The topology; edges carry their Link as ``link``."""
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from((*self.servers, *self.switches))
        for link in self.links:
            graph.add_edge(link.a, link.b, link=link)
        return graph

    @property
    def nodes(self) -> tuple[str, ...]:
        """Servers, then switches."""
        return (*self.servers, *self.switches)

    @property
    def ports(self) -> tuple[Port, ...]:
        """Every port, in the order of the links."""
        return tuple(port for link in self.links for port in link.ports)

    @functools.cached_property
    def _rates_bps(self) -> dict[Port, float]:
        return {port: link.rate_bps for link in self.links for port in link.ports}

    @functools.cached_property
    def _hops_to(self) -> dict[str, dict[str, int]]:
        """Server -> hops to it from each node, filled as paths are asked for."""
        return {}

    def rate_bps(self, port: Port) -> float:
        """Rate of the link that ``port`` belongs to. KeyError where there is none."""
        if port not in self._rates_bps:
            raise KeyError(str(port))
        return self._rates_bps[port]

    def next_hop(self, node: str, server: str) -> str:
        """The neighbour of ``node`` on its path to ``server``."""
        return self.path(node, server)[0].peer

    def path(self, source: str, destination: str) -> tuple[Port, ...]:
        """The ports that a packet from ``source`` to ``destination`` leaves through."""
        if destination not in self._hops_to:
            hops = nx.single_source_shortest_path_length(self.graph, destination)
            self._hops_to[destination] = dict(hops)
        distance = self._hops_to[destination]
        ports: list[Port] = []
        node = source
        while node != destination:
            peer = min(p for p in self.graph.neighbors(node) if distance[p] == distance[node] - 1)
            ports.append(Port(node, peer))
            node = peer
        return tuple(ports)


def dumbbell(
    servers_left: int,
    servers_right: int,
    rate_bps: float,
    middle_rate_bps: float | None = None,
    sharing: Sharing = Sharing.FAIR,
    fabric: Fabric = Fabric.LOSSLESS,
) -> Cluster:
    """``left0..`` and ``right0..`` behind one switch each; one link joins the switches."""
    left = tuple(f"left{index}" for index in range(servers_left))
    right = tuple(f"right{index}" for index in range(servers_right))
    links = (
        *(Link(server, "switch-left", rate_bps) for server in left),
        Link("switch-left", "switch-right", middle_rate_bps or rate_bps),
        *(Link("switch-right", server, rate_bps) for server in right),
    )
    return Cluster((*left, *right), ("switch-left", "switch-right"), links, sharing, fabric)
