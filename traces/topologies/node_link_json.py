"""NetworkX node-link JSON (``networkx.node_link_data``): ``nodes`` with ``id``, ``edges`` or
``links`` with ``source`` and ``target``, and attributes beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from traces.errors import BadInputError
from traces.topologies.graph import UNDIRECTED, Graph, GraphLink, GraphNode, node_name

_FORM = (
    '{"nodes": [{"id": ...}], "edges": [{"source": ..., "target": ...}]}, as '
    "networkx.node_link_data writes it"
)


def parse_node_link(text: str, file: Path) -> Graph:
    """The graph in ``text``. Raises BadInputError with the line or the key."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInputError(
            f"is not JSON: {error.msg}", allowed="one JSON document", file=file, line=error.lineno
        ) from None
    except (RecursionError, ValueError) as error:
        # ValueError: a number with more digits than Python converts.
        problem = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadInputError(f"is not JSON: {problem}", allowed=_FORM, file=file) from None
    if not isinstance(data, dict):
        raise BadInputError("is not a graph", allowed=_FORM, file=file, line=1)
    if data.get("directed") not in (None, False):
        raise BadInputError("the graph is directed", allowed=UNDIRECTED, file=file, key="directed")
    present = [key for key in ("edges", "links") if key in data]
    if len(present) != 1:
        problem = "has both 'edges' and 'links'" if present else "has no 'edges'"
        raise BadInputError(problem, allowed=_FORM, file=file)
    return Graph(
        [
            GraphNode(_name(item, "id", file, key), _without(item, "id"))
            for key, item in _items(data, "nodes", file)
        ],
        [
            GraphLink(
                _name(item, "source", file, key),
                _name(item, "target", file, key),
                _without(item, "source", "target"),
            )
            for key, item in _items(data, present[0], file)
        ],
    )


def _items(
    data: Mapping[str, object], section: str, file: Path
) -> list[tuple[str, dict[str, object]]]:
    """(key, object) of each member of the list ``section``."""
    items = data.get(section)
    if not isinstance(items, list):
        raise BadInputError("is not a list", allowed=_FORM, file=file, key=section)
    found = []
    for index, item in enumerate(items):
        key = f"{section}.{index}"
        if not isinstance(item, dict):
            raise BadInputError("is not an object", allowed=_FORM, file=file, key=key)
        found.append((key, item))
    return found


def _name(item: Mapping[str, object], field: str, file: Path, key: str) -> str:
    try:
        return node_name(item.get(field))
    except ValueError as error:
        problem = f"there is no {field!r}" if field not in item else str(error)
        raise BadInputError(
            problem, allowed="a text or a whole number", file=file, key=f"{key}.{field}"
        ) from None


def _without(item: Mapping[str, object], *fields: str) -> dict[str, object]:
    return {key: value for key, value in item.items() if key not in fields}
