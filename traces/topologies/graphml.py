"""GraphML (``networkx.write_graphml``): a node is known by its ``id``.

Read straight from expat: a document type is refused before any entity of it is read, so that the
file can neither reach other files nor expand without end, and errors have a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from traces.errors import BadInputError
from traces.topologies.graph import UNDIRECTED, Graph, GraphLink, GraphNode

_FORM = "GraphML with one graph of nodes and edges, as networkx.write_graphml writes it"


def parse_graphml(text: str, file: Path) -> Graph:
    """The graph in ``text``. Raises BadInputError with the line."""
    reader = _Reader(file)
    try:
        reader.parser.Parse(text, True)
    except expat.ExpatError as error:
        raise BadInputError(
            f"is not XML: {expat.ErrorString(error.code)}",
            allowed=_FORM,
            file=file,
            line=error.lineno,
        ) from None
    if reader.graphs == 0:
        raise BadInputError("has no graph", allowed=_FORM, file=file)
    return Graph(reader.nodes, reader.links)


@dataclass
class _Key:
    """What a ``<key>`` declares: an attribute of nodes or edges."""

    name: str
    domain: str
    default: str | None = None


class _Reader:
    def __init__(self, file: Path) -> None:
        self.nodes: list[GraphNode] = []
        self.links: list[GraphLink] = []
        self.graphs = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self._file = file
        self._keys: dict[str, _Key] = {}
        self._key: _Key | None = None
        self._attributes: dict[str, object] | None = None
        self._value: list[str] | None = None

    def _refuse(self, problem: str, allowed: str = _FORM) -> BadInputError:
        line = self.parser.CurrentLineNumber
        return BadInputError(problem, allowed=allowed, file=self._file, line=line)

    def _doctype(self, *_: object) -> None:
        raise self._refuse("has a document type", "GraphML without <!DOCTYPE ...>")

    def _start(self, tag: str, given: dict[str, str]) -> None:
        match tag.rpartition(":")[2]:
            case "key":
                self._key = _Key(given.get("attr.name", ""), given.get("for", "all"))
                self._keys[given.get("id", "")] = self._key
            case "default":
                self._value = []
            case "graph":
                self.graphs += 1
                if self.graphs > 1:
                    raise self._refuse("has more than one graph")
                if given.get("edgedefault") == "directed":
                    raise self._refuse("the graph is directed", UNDIRECTED)
            case "hyperedge":
                raise self._refuse("has a hyperedge", "edges between two nodes")
            case "node":
                (name,) = self._names("node", given, "id")
                self._attributes = self._defaults("node")
                self.nodes.append(GraphNode(name, self._attributes))
            case "edge":
                if given.get("directed") == "true":
                    raise self._refuse("the edge is directed", UNDIRECTED)
                a, b = self._names("edge", given, "source", "target")
                self._attributes = self._defaults("edge")
                self.links.append(GraphLink(a, b, self._attributes))
            case "data":
                if given.get("key") not in self._keys:
                    raise self._refuse(
                        f"the key {given.get('key')!r} is not declared",
                        "data of a <key> that stands above the graph",
                    )
                self._key = self._keys[given["key"]]
                self._value = []

    def _names(self, tag: str, given: dict[str, str], *fields: str) -> list[str]:
        for name in fields:
            if name not in given:
                raise self._refuse(f"the {tag} has no {name!r}")
        return [given[name] for name in fields]

    def _defaults(self, tag: str) -> dict[str, object]:
        return {
            key.name: key.default
            for key in self._keys.values()
            if key.default is not None and key.domain in ("all", tag)
        }

    def _text(self, text: str) -> None:
        if self._value is not None:
            self._value.append(text)

    def _end(self, tag: str) -> None:
        match tag.rpartition(":")[2]:
            case "default" if self._key is not None:
                self._key.default = "".join(self._value or ()).strip()
                self._value = None
            case "data":
                if self._attributes is not None and self._key is not None:
                    self._attributes[self._key.name] = "".join(self._value or ()).strip()
                self._value = None
            case "node" | "edge":
                self._attributes = None
