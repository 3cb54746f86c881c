"""GraphML: keys with defaults, lines in errors, and no entity of any kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import edited, line_of
from tests.unit.refusal import refusal_of
from traces.errors import BadInputError
from traces.topologies.graph import Graph
from traces.topologies.graphml import parse_graphml

TEXT = """\
<?xml version="1.0" encoding="utf-8"?>
<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns">
  <g:key id="d0" for="edge" attr.name="rate" attr.type="string">
    <g:default> 25 Gbit/s </g:default>
  </g:key>
  <g:key id="d1" for="node" attr.name="kind"/>
  <g:graph edgedefault="undirected">
    <g:data key="d0">of the graph</g:data>
    <g:node id="a"><g:data key="d1">server</g:data></g:node>
    <g:node id="b"/>
    <g:edge source="a" target="b"/>
    <g:edge source="b" target="a"><g:data key="d0">1 Gbit/s</g:data></g:edge>
  </g:graph>
</g:graphml>
"""
FILE = Path("topology.graphml")


def refusal(text: str) -> BadInputError:
    return refusal_of(FILE, parse_graphml, text, FILE)


def test_nodes_and_edges_have_their_data_or_the_default() -> None:
    graph: Graph = parse_graphml(TEXT, FILE)
    assert [(node.name, node.attributes) for node in graph.nodes] == [
        ("a", {"kind": "server"}),
        ("b", {}),
    ]
    assert [(link.a, link.b, link.attributes) for link in graph.links] == [
        ("a", "b", {"rate": "25 Gbit/s"}),
        ("b", "a", {"rate": "1 Gbit/s"}),
    ]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('edgedefault="undirected"', 'edgedefault="directed"', "the graph is directed"),
        ('source="a"', 'source="a" directed="true"', "the edge is directed"),
        ('<g:node id="b"/>', '<g:node name="b"/>', "the node has no 'id'"),
        ('<g:edge source="a"', '<g:edge from="a"', "the edge has no 'source'"),
        ('<g:node id="b"/>', '<g:node id="b"><g:graph/></g:node>', "more than one graph"),
        ('<g:node id="b"/>', "<g:hyperedge/>", "a hyperedge"),
        ('key="d1">server', 'key="d9">server', "the key 'd9' is not declared"),
    ],
)
def test_what_is_not_a_plain_graph_is_refused_at_its_line(old: str, new: str, problem: str) -> None:
    text = edited(TEXT, old, new)
    error = refusal(text)
    assert problem in error.problem
    assert error.line == line_of(text, new)


def test_what_is_not_xml_is_refused_at_its_line() -> None:
    text = edited(TEXT, '<g:node id="b"/>', '<g:node id="b">')
    error = refusal(text)
    assert error.problem == "is not XML: mismatched tag"
    assert error.line == line_of(text, "</g:graph>")


def test_a_document_without_a_graph_is_refused() -> None:
    assert refusal("<graphml/>").problem == "has no graph"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 30))


@pytest.mark.parametrize(
    "doctype",
    [
        f'<!DOCTYPE x [<!ENTITY l0 "ha">{LAUGHS}]>',
        '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd">',
    ],
)
def test_entities_are_refused_before_they_are_read(doctype: str) -> None:
    error = refusal(f"<?xml version='1.0'?>\n{doctype}\n<x>&l29;&f;</x>")
    assert (error.problem, error.line) == ("has a document type", 2)
