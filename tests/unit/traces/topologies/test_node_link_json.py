"""Node-link JSON: under both of its names, and what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from traces.errors import BadInputError
from traces.topologies.node_link_json import parse_node_link

FILE = Path("topology.json")


@pytest.mark.parametrize("section", ["edges", "links"])
def test_links_stand_under_either_name(section: str) -> None:
    text = f'{{"nodes": [{{"id": 1, "kind": "server"}}, {{"id": "s"}}], "{section}": [LINK]}}'
    graph = parse_node_link(text.replace("LINK", '{"source": 1, "target": "s", "rate": 5}'), FILE)
    assert [(node.name, node.attributes) for node in graph.nodes] == [
        ("1", {"kind": "server"}),
        ("s", {}),
    ]
    assert [(link.a, link.b, link.attributes) for link in graph.links] == [("1", "s", {"rate": 5})]


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        ("[]", None, "is not a graph"),
        ('{"nodes": []}', None, "has no 'edges'"),
        ('{"nodes": [], "edges": [], "links": []}', None, "both 'edges' and 'links'"),
        ('{"directed": true, "nodes": [], "edges": []}', "directed", "is directed"),
        ('{"edges": []}', "nodes", "not a list"),
        ('{"nodes": [], "edges": {}}', "edges", "not a list"),
        ('{"nodes": [3], "edges": []}', "nodes.0", "not an object"),
        ('{"nodes": [{"name": "a"}], "edges": []}', "nodes.0.id", "there is no 'id'"),
        ('{"nodes": [{"id": 1.5}], "edges": []}', "nodes.0.id", "1.5 is not a node's id"),
        ('{"nodes": [{"id": true}], "edges": []}', "nodes.0.id", "True is not a node's id"),
        ('{"nodes": [], "edges": [{"source": "a"}]}', "edges.0.target", "there is no 'target'"),
    ],
)
def test_what_is_not_a_graph_is_refused_by_its_key(
    text: str, key: str | None, problem: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_node_link(text, FILE)
    assert (caught.value.file, caught.value.key) == (FILE, key)
    assert problem in caught.value.problem


def test_what_is_not_json_is_refused_at_its_line() -> None:
    with pytest.raises(BadInputError, match="is not JSON") as caught:
        parse_node_link('{\n"nodes": [,]}', FILE)
    assert caught.value.line == 2
