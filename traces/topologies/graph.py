"""A graph as a file has it: names and attributes, nothing checked yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class GraphNode:
    """A node and its attributes, text or numbers."""

    name: str
    attributes: Mapping[str, object]

    @property
    def key(self) -> str:
        """How an error names it."""
        return f"node {self.name!r}"


@dataclass(frozen=True)
class GraphLink:
    """An undirected link and its attributes."""

    a: str
    b: str
    attributes: Mapping[str, object]

    @property
    def key(self) -> str:
        """How an error names it."""
        return f"link {self.a!r} to {self.b!r}"


@dataclass(frozen=True)
class Graph:
    """All nodes and links, in the order of the file."""

    nodes: Sequence[GraphNode]
    links: Sequence[GraphLink]


UNDIRECTED = (
    "an undirected graph (networkx: graph.to_undirected()), as every link has two directions"
)
"""What is allowed instead of a directed graph."""


def node_name(identifier: object) -> str:
    """The name of a node with this id. ValueError where an id is neither text nor whole."""
    if isinstance(identifier, str):
        return identifier
    if isinstance(identifier, int) and not isinstance(identifier, bool):
        return str(identifier)
    raise ValueError(f"{identifier!r} is not a node's id")
