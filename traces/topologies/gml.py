"""GML (``networkx.write_gml``): a node is known by its ``label``, or by its ``id`` without one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import networkx as nx

from traces.errors import BadInputError
from traces.topologies.graph import UNDIRECTED, Graph, GraphLink, GraphNode, node_name

_FORM = 'graph [ node [ id 0 label "..." ] edge [ source 0 target 1 ] ], as networkx.write_gml'


def parse_gml(text: str, file: Path) -> Graph:
    """The graph in ``text``. Raises BadInputError with what NetworkX found wrong."""
    try:
        graph: Any = nx.parse_gml(text, label=None)  # type: ignore[call-overload]  # stubs: str
    except RecursionError:
        raise BadInputError("is not GML: nested too deeply", allowed=_FORM, file=file) from None
    except nx.NetworkXError as error:
        raise _not_read(str(error), file) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # What NetworkX does not check: lists where it expects values, characters beyond Unicode.
        raise _not_read("its lists are not those of a graph", file) from None
    if graph.is_directed():
        raise BadInputError("the graph is directed", allowed=UNDIRECTED, file=file, key="directed")
    names: dict[object, str] = {}
    for identifier, attributes in graph.nodes(data=True):
        try:
            names[identifier] = node_name(attributes.get("label", identifier))
        except ValueError as error:
            raise BadInputError(
                str(error), allowed="a text or a whole number", file=file, key=f"node {identifier}"
            ) from None
    return Graph(
        [GraphNode(names[node], attributes) for node, attributes in graph.nodes(data=True)],
        [GraphLink(names[a], names[b], attributes) for a, b, attributes in graph.edges(data=True)],
    )


def _not_read(problem: str, file: Path) -> BadInputError:
    """NetworkX's error, with the line that it names and without its advice on its own options."""
    problem = problem.splitlines()[0] if problem else "is not a graph"
    parallel = re.match(r"edge #\d+ \((.+?)(?:--|->)(.+?)\) is duplicated", problem)
    if parallel is not None:
        return BadInputError(
            "the two nodes have a link already",
            allowed="one link between two nodes, with the rates of parallel ones added up",
            file=file,
            key=f"link {parallel[1]} to {parallel[2]}",
        )
    place = re.search(r" at \((\d+), \d+\)", problem)
    return BadInputError(
        f"is not GML: {problem}",
        allowed=_FORM,
        file=file,
        line=None if place is None else int(place[1]),
    )
