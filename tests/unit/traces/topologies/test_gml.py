"""GML: labels, ids, and what NetworkX refuses in our words."""

from __future__ import annotations

from pathlib import Path

import pytest

from traces.errors import BadInputError
from traces.topologies.gml import parse_gml

FILE = Path("topology.gml")


def test_a_node_is_known_by_its_label_or_by_its_id() -> None:
    text = 'graph [ node [ id 0 label "a" ] node [ id 7 ] edge [ source 0 target 7 rate 5 ] ]'
    graph = parse_gml(text, FILE)
    assert [node.name for node in graph.nodes] == ["a", "7"]
    assert [(link.a, link.b, link.attributes) for link in graph.links] == [("a", "7", {"rate": 5})]


def test_two_nodes_may_have_one_label_here() -> None:
    """That a name stands twice is for the cluster to refuse, by the name."""
    graph = parse_gml('graph [ node [ id 0 label "a" ] node [ id 1 label "a" ] ]', FILE)
    assert [node.name for node in graph.nodes] == ["a", "a"]


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("", "no graph", None),
        ("graph [\n  node [ id 0 ]\n  $\n]", "cannot tokenize", 3),
        ("graph [\n  node [ id 0 ]\n", "found EOF", 3),
        ("graph [ node [ id 0 ] node [ id 0 ] ]", "node id 0 is duplicated", None),
        ("graph [ node [ id 0 ] edge [ source 0 target 7 ] ]", "undefined target 7", None),
        ("graph [ node 3 ]", "its lists are not those of a graph", None),
        ("graph [ " * 5000, "nested too deeply", None),
    ],
)
def test_what_is_not_gml_is_refused(text: str, problem: str, line: int | None) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_gml(text, FILE)
    assert caught.value.problem.startswith("is not GML: ")
    assert problem in caught.value.problem
    assert caught.value.line == line


def test_a_second_link_is_refused_by_its_ends() -> None:
    edges = "edge [ source 0 target 1 ] edge [ source 1 target 0 ]"
    with pytest.raises(BadInputError, match="a link already") as caught:
        parse_gml(f"graph [ node [ id 0 ] node [ id 1 ] {edges} ]", FILE)
    assert caught.value.key == "link 1 to 0"
    assert "added up" in caught.value.allowed
