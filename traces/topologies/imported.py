"""Topologies from files: NetworkX node-link JSON, GraphML and GML.

Attributes of a link:

- ``rate``: a text with its unit ("50 Gbit/s", "1.25 GB/s"), or a number of bit/s;
- ``sharing``: ``fair``, ``weighted``, ``priority`` or ``fifo`` at both its ports;
- ``buffer``: what each of its ports can hold, a text ("512 kB") or a number of bytes.

Attribute of a node: ``kind``, ``server`` or ``switch``. Without it a node with one link is a server
and any other a switch. Other attributes are not looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from traces.cluster import Cluster, Fabric, Link, Sharing
from traces.errors import BadInputError
from traces.quantities import format_rate, parse_rate_bps, parse_size_bytes
from traces.text_file import read_text
from traces.topologies.gml import parse_gml
from traces.topologies.graph import Graph, GraphLink
from traces.topologies.graphml import parse_graphml
from traces.topologies.node_link_json import parse_node_link

MAX_FILE_BYTES = 16 * 2**20

FAST_RATE_BPS = 10e12
"""Above this a rate is more likely a mistake of its unit than a link."""

SLOW_RATE_BPS = 1e6
"""Below this a number without a unit is more likely meant in Gbit/s than in bit/s."""

_FORMATS = "node-link JSON (.json), GraphML (.graphml) or GML (.gml)"

_PARSERS: dict[str, Callable[[str, Path], Graph]] = {
    ".json": parse_node_link,
    ".graphml": parse_graphml,
    ".xml": parse_graphml,
    ".gml": parse_gml,
}


@dataclass(frozen=True)
class ImportedCluster:
    """A cluster from a file.

    warnings: what of it is probably a mistake, a sentence each.
    """

    cluster: Cluster
    warnings: tuple[str, ...]


def read_topology(
    file: Path,
    rate_bps: float | None = None,
    sharing: Sharing = Sharing.FAIR,
    fabric: Fabric = Fabric.LOSSLESS,
) -> ImportedCluster:
    """The cluster in ``file``, whose format its ending tells, or else its first characters.

    rate_bps, sharing: of the links that have none in the file.
    Raises BadInputError with the file and the node, link or line.
    """
    allowed = f"{_FORMATS}, UTF-8, at most {MAX_FILE_BYTES // 2**20} MiB"
    text = read_text(file, MAX_FILE_BYTES, allowed).removeprefix("\ufeff")
    graph = _parser(file, text)(text, file)
    try:
        servers, switches = _kinds(graph)
        links = tuple(_link(link, rate_bps) for link in graph.links)
        cluster = Cluster(servers, switches, links, sharing, fabric)
    except BadInputError as error:
        raise BadInputError(
            error.problem, allowed=error.allowed, file=file, key=error.key
        ) from None
    return ImportedCluster(cluster, tuple(_warnings(graph, links)))


def _parser(file: Path, text: str) -> Callable[[str, Path], Graph]:
    if file.suffix.lower() in _PARSERS:
        return _PARSERS[file.suffix.lower()]
    beginnings = {"{": parse_node_link, "<": parse_graphml}
    return beginnings.get(text.lstrip()[:1], parse_gml)


def _kinds(graph: Graph) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(servers, switches)"""
    links = Counter(end for link in graph.links for end in (link.a, link.b))
    kinds: dict[str, list[str]] = {"server": [], "switch": []}
    for node in graph.nodes:
        kind = node.attributes.get("kind")
        if kind is None:
            kind = "server" if links[node.name] == 1 else "switch"
        if not isinstance(kind, str) or kind not in kinds:
            raise BadInputError(
                f"the kind {kind!r} is not known", allowed="'server', 'switch'", key=node.key
            )
        kinds[kind].append(node.name)
    if not kinds["server"]:
        raise BadInputError(
            "there is no server", allowed="nodes with one link, or with the attribute kind 'server'"
        )
    return tuple(kinds["server"]), tuple(kinds["switch"])


def _link(link: GraphLink, rate_bps: float | None) -> Link:
    given = link.attributes
    rate = rate_bps if given.get("rate") is None else _quantity(link, "rate", parse_rate_bps)
    if rate is None:
        raise BadInputError(
            "the link has no rate",
            allowed="the attribute 'rate' such as '50 Gbit/s', or a rate for all links without",
            key=link.key,
        )
    sharing = given.get("sharing")
    if sharing is not None and sharing not in list(Sharing):
        raise BadInputError(
            f"the sharing {sharing!r} is not known",
            allowed=", ".join(repr(str(known)) for known in Sharing),
            key=link.key,
        )
    return Link(
        link.a,
        link.b,
        rate,
        sharing=None if sharing is None else Sharing(str(sharing)),
        buffer_bytes=None
        if given.get("buffer") is None
        else round(_quantity(link, "buffer", parse_size_bytes)),
    )


def _quantity(link: GraphLink, attribute: str, parse: Callable[[object], float]) -> float:
    """The attribute, a text with a unit or a number, in bit/s or bytes."""
    given = link.attributes[attribute]
    number = _number(given)
    problem, allowed = f"{given!r} is out of range", "a number above zero"
    if number is not None and 0 < number < math.inf:
        return number
    if number is None:
        try:
            return parse(given)
        except ValueError as error:
            problem, allowed = str(error).rsplit("|", 1)
    raise BadInputError(f"{attribute}: {problem}", allowed=allowed, key=link.key)


def _number(given: object) -> float | None:
    """``given`` where it is a number; GML and GraphML hold large ones as text."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    try:
        return float(given)
    except (ValueError, OverflowError):
        return None


def _warnings(graph: Graph, links: Sequence[Link]) -> list[str]:
    """Rates that are probably mistakes: one sentence a kind, with the first link of it."""
    fast = [link for link in links if link.rate_bps > FAST_RATE_BPS]
    slow = [
        link
        for given, link in zip(graph.links, links, strict=True)
        if link.rate_bps < SLOW_RATE_BPS and _number(given.attributes.get("rate")) is not None
    ]
    found = []
    if fast:
        found.append(
            f"{_shown(fast)} faster than {format_rate(FAST_RATE_BPS)}: "
            "are the rates in bit/s, and GB/s not meant as Gbit/s?"
        )
    if slow:
        found.append(
            f"{_shown(slow)} slower than {format_rate(SLOW_RATE_BPS)}: "
            "a number without a unit is in bit/s; write '50 Gbit/s'"
        )
    return found


def _shown(links: Sequence[Link]) -> str:
    """'3 links, the first of them a to b with 50 bit/s, are'"""
    first = f"{links[0].a} to {links[0].b} with {format_rate(links[0].rate_bps)}"
    if len(links) == 1:
        return f"the link {first} is"
    return f"{len(links)} links, the first of them {first}, are"
