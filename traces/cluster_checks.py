"""What every cluster must be: names that fit, rates above zero, all servers joined. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from traces.errors import BadInputError

if TYPE_CHECKING:
    from traces.cluster import Link

MAX_INTERFACES = 16
"""Most links of one server."""

NODE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
"""What can be part of a namespace's name."""


def check_cluster(servers: Sequence[str], switches: Sequence[str], links: Iterable[Link]) -> None:
    """Raise BadInputError, with the node or link as its key, where this is not a sound cluster."""
    links = tuple(links)
    _check_names((*servers, *switches))
    _check_links({*servers, *switches}, links)
    for node, count in Counter(end for link in links for end in (link.a, link.b)).items():
        if count > MAX_INTERFACES and node in set(servers):
            raise BadInputError(
                f"the server has {count} links",
                allowed=f"at most {MAX_INTERFACES} links of a server",
                key=f"node {node!r}",
            )
    _check_joined(servers, switches, links)


def _check_names(nodes: Sequence[str]) -> None:
    for node, count in Counter(nodes).items():
        if NODE_NAME.fullmatch(node) is None:
            raise BadInputError(
                "the name cannot be part of a namespace's name",
                allowed="lower-case letters, digits and '-', at most 41, beginning with a letter "
                "or digit",
                key=f"node {node!r}",
            )
        if count > 1:
            raise BadInputError(
                f"the name stands {count} times",
                allowed="each name once, among servers and switches together",
                key=f"node {node!r}",
            )


def _check_links(nodes: set[str], links: Sequence[Link]) -> None:
    joined: set[frozenset[str]] = set()
    for link in links:
        key = f"link {link.a!r} to {link.b!r}"
        ends = frozenset((link.a, link.b))
        for end in ends - nodes:
            raise BadInputError(f"there is no node {end!r}", allowed="two known nodes", key=key)
        if len(ends) == 1:
            raise BadInputError(
                "the link joins a node to itself", allowed="two different nodes", key=key
            )
        if ends in joined:
            raise BadInputError(
                "the two nodes have a link already",
                allowed="one link between two nodes, with the rates of parallel ones added up",
                key=key,
            )
        joined.add(ends)
        if not (math.isfinite(link.rate_bps) and link.rate_bps > 0):
            raise BadInputError(
                f"a rate of {link.rate_bps:g} bit/s", allowed="a rate above zero", key=key
            )
        if link.buffer_bytes is not None and link.buffer_bytes < 1:
            raise BadInputError(
                f"a buffer of {link.buffer_bytes} bytes", allowed="a byte or more", key=key
            )


def _check_joined(servers: Sequence[str], switches: Sequence[str], links: Sequence[Link]) -> None:
    """Every node reaches every server without passing through another: servers do not forward."""
    neighbours: dict[str, list[str]] = {node: [] for node in (*servers, *switches)}
    for link in links:
        neighbours[link.a].append(link.b)
        neighbours[link.b].append(link.a)
    if not switches:
        for a in servers:
            for b in set(servers) - {a} - set(neighbours[a]):
                raise _not_joined(a, b, cut_off=b)
    forwards = set(switches)
    left = set(switches)
    for switch in switches:
        if switch not in left:
            continue
        reached = {switch}
        waiting = [switch]
        while waiting:
            node = waiting.pop()
            new = [peer for peer in neighbours[node] if peer not in reached]
            reached.update(new)
            waiting += [peer for peer in new if peer in forwards]
        left -= reached
        for server in servers:
            if server not in reached:
                alone = reached.isdisjoint(servers)
                raise _not_joined(switch, server, cut_off=switch if alone else server)


def _not_joined(a: str, b: str, cut_off: str) -> BadInputError:
    return BadInputError(
        f"the graph is not connected: no path from {a!r} to {b!r}",
        allowed="links through switches between every node and every server (servers do not "
        "forward)",
        key=f"node {cut_off!r}",
    )
