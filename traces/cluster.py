"""Servers, switches and links, and the paths between servers. Pure data over a NetworkX graph."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from traces.cluster_checks import check_cluster
from traces.errors import BadInputError
from traces.routing import Routes


class Sharing(StrEnum):
    """How a port's queue divides its rate.

    ``fair``: evenly among jobs. ``weighted``: among jobs by their weights. ``priority``: all to the
    jobs of the greatest priority that have something to send, fairly among those. ``fifo``: first
    come, first served.
    """

    FAIR = "fair"
    WEIGHTED = "weighted"
    PRIORITY = "priority"
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
    """A bidirectional link between two nodes, of which two nodes have one at most.

    sharing: of both its ports; None for the cluster's.
    buffer_bytes: what each of its ports can hold; None for what its rate and windows need.
    """

    a: str
    b: str
    rate_bps: float
    sharing: Sharing | None = None
    buffer_bytes: int | None = None

    @property
    def ports(self) -> tuple[Port, Port]:
        """Both directions."""
        return Port(self.a, self.b), Port(self.b, self.a)


@dataclass(frozen=True)
class Cluster:
    """Servers and switches joined by links. A server may have several, to different nodes.

    Routes are shortest paths, and servers do not forward. Equal paths are numbered variants, the
    same on every machine; variant 0 takes the first neighbour by name everywhere (numbers in names
    count as numbers). Raises BadInputError, with the node or link as its key, where it is not
    connected, a name stands twice or cannot be part of a namespace's name, a rate is zero, two
    nodes have two links, or a server more than 16.
    """

    servers: tuple[str, ...]
    switches: tuple[str, ...]
    links: tuple[Link, ...]
    sharing: Sharing = Sharing.FAIR
    fabric: Fabric = Fabric.LOSSLESS

    def __post_init__(self) -> None:
        check_cluster(self.servers, self.switches, self.links)

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
    def server_rate_bps(self) -> float:
        """Rate of the slowest link of a server."""
        servers = set(self.servers)
        return min(self.rate_bps(port) for port in self.ports if port.node in servers)

    @functools.cached_property
    def _link_of(self) -> dict[Port, Link]:
        return {port: link for link in self.links for port in link.ports}

    @functools.cached_property
    def _routes(self) -> Routes:
        return Routes(self.nodes, self.switches, ((link.a, link.b) for link in self.links))

    def link(self, port: Port) -> Link:
        """The link that ``port`` belongs to. KeyError where there is none."""
        if port not in self._link_of:
            raise KeyError(str(port))
        return self._link_of[port]

    def rate_bps(self, port: Port) -> float:
        """Rate of the link that ``port`` belongs to. KeyError where there is none."""
        return self.link(port).rate_bps

    def sharing_at(self, port: Port) -> Sharing:
        """How ``port`` divides its rate. KeyError where there is none."""
        return self.link(port).sharing or self.sharing

    def common_sharing(self, known: Collection[Sharing]) -> Sharing:
        """The discipline of every port, for what has one for all of them and knows ``known``.

        Raises BadInputError, with the key of a scenario, where it is another or they differ.
        """
        allowed = " or ".join(repr(str(sharing)) for sharing in known)
        found = {link.sharing or self.sharing for link in self.links} or {self.sharing}
        shown = ", ".join(sorted(repr(str(sharing)) for sharing in found))
        if len(found) > 1:
            raise BadInputError(
                f"the ports have several disciplines ({shown}), which is not possible yet",
                allowed=f"{allowed}, the same at every port",
                key="cluster.sharing",
            )
        if not found <= set(known):
            raise BadInputError(
                f"the sharing {shown} is not possible yet", allowed=allowed, key="cluster.sharing"
            )
        return found.pop()

    def next_hop(self, node: str, server: str, variant: int = 0) -> str:
        """The neighbour of ``node`` on its path to ``server``. It depends on these three only.

        KeyError where ``node`` is the server; ValueError where there cannot be such a variant.
        """
        return self._routes.next_hop(node, server, variant)

    def next_hops(self, variant: int = 0) -> NDArray[np.int32]:
        """Every next hop at once: shape (nodes, servers), positions in ``nodes``.

        -1 where the node is the server itself.
        """
        return self._routes.table(len(self.servers), variant)

    def path(self, source: str, destination: str, variant: int = 0) -> tuple[Port, ...]:
        """The ports that a packet from ``source`` to ``destination`` leaves through.

        variant: 0 to MAX_VARIANTS - 1; those from ``num_variants`` on repeat earlier ones.
        """
        nodes = self.nodes_on_path(source, destination, variant)
        return tuple(Port(node, peer) for node, peer in itertools.pairwise(nodes))

    def nodes_on_path(self, source: str, destination: str, variant: int = 0) -> tuple[str, ...]:
        """The same by the nodes that it comes to, both ends included."""
        return self._routes.path(source, destination, variant)

    def num_variants(self, source: str, destination: str) -> int:
        """How many variants, from 0 on, are different paths; MAX_VARIANTS at most.

        Between servers of a leaf-spine or a fat-tree these are all the shortest paths.
        """
        return self._routes.num_variants(source, destination)

    def path_variants(self, source: str, destination: str) -> tuple[tuple[Port, ...], ...]:
        """The different paths, in the order of their variants."""
        return tuple(
            self.path(source, destination, variant)
            for variant in range(self.num_variants(source, destination))
        )


def dumbbell(
    servers_left: int,
    servers_right: int,
    rate_bps: float,
    middle_rate_bps: float | None = None,
    sharing: Sharing = Sharing.FAIR,
    fabric: Fabric = Fabric.LOSSLESS,
) -> Cluster:
    """:func:`traces.topologies.dumbbell.dumbbell`, by the name that it had before the others."""
    from traces.topologies.dumbbell import dumbbell as build  # the presets are built on this file

    return build(servers_left, servers_right, rate_bps, middle_rate_bps, sharing, fabric)
