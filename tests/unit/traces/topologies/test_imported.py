"""Topologies from files: three formats, one meaning, and errors that name the node or link."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.refusal import refusal_of
from traces.cluster import Link, Port, Sharing
from traces.errors import BadInputError
from traces.topologies import imported
from traces.topologies.imported import ImportedCluster, read_topology


def write_json(graph: Any, file: Path) -> None:
    file.write_text(json.dumps(nx.node_link_data(graph)))


WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "json": write_json,
    "graphml": nx.write_graphml,
    "gml": nx.write_gml,
}


def pair(**attributes: Any) -> nx.Graph[str]:
    """Two servers at one switch, the second by a link with ``attributes``."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edge("a", "s", rate="50 Gbit/s")
    graph.add_edge("b", "s", **attributes)
    return graph


def read(directory: Path, graph: Any, ending: str = "json", **others: Any) -> ImportedCluster:
    file = directory / f"topology.{ending}"
    WRITERS[ending](graph, file)
    return read_topology(file, **others)


def refusal(file: Path, text: str) -> BadInputError:
    file.write_text(text, encoding="utf-8")
    error = refusal_of(file, read_topology, file)
    assert error.allowed
    return error


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_has_the_same_meaning(tmp_path: Path, ending: str) -> None:
    graph = pair(rate=25_000_000_000, sharing="weighted", buffer="512 kB", colour="red")
    graph.add_node("t", kind="switch")
    graph.add_edge("s", "t", rate="1.25 GB/s", buffer=9000)
    found = read(tmp_path, graph, ending)
    assert found.cluster.servers == ("a", "b")
    assert found.cluster.switches == ("s", "t")
    assert {frozenset((link.a, link.b)): link.rate_bps for link in found.cluster.links} == {
        frozenset("as"): 50e9,
        frozenset("bs"): 25e9,
        frozenset("st"): 10e9,
    }
    special, above = (found.cluster.link(Port(*ends)) for ends in ("bs", "st"))
    assert (special.sharing, special.buffer_bytes) == (Sharing.WEIGHTED, 512_000)
    assert (above.sharing, above.buffer_bytes) == (None, 9000)
    assert found.warnings == ()


@pytest.mark.parametrize("ending", WRITERS)
def test_nodes_may_be_numbers(tmp_path: Path, ending: str) -> None:
    graph: nx.Graph[int] = nx.star_graph(3)
    nx.set_edge_attributes(graph, 1e9, "rate")
    cluster = read(tmp_path, graph, ending).cluster
    assert (cluster.servers, cluster.switches) == (("1", "2", "3"), ("0",))


@pytest.mark.parametrize("ending", WRITERS)
def test_what_the_ending_does_not_say_the_content_does(tmp_path: Path, ending: str) -> None:
    file = tmp_path / "topology.txt"
    WRITERS[ending](pair(rate=1e9), file)
    assert read_topology(file).cluster.servers == ("a", "b")
    file.write_text("\ufeff" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert read_topology(file).cluster.servers == ("a", "b")


def test_a_kind_goes_before_the_number_of_links(tmp_path: Path) -> None:
    graph = pair(rate=1e9)
    graph.add_edge("b", "t", rate=1e9)
    graph.add_edge("a", "t", rate=1e9)
    with pytest.raises(BadInputError, match="there is no server"):
        read(tmp_path, graph)
    nx.set_node_attributes(graph, {"a": "server", "b": "server"}, "kind")
    assert read(tmp_path, graph).cluster.num_variants("a", "b") == 2


def test_the_callers_rate_and_sharing_are_for_links_without(tmp_path: Path) -> None:
    cluster = read(tmp_path, pair(), rate_bps=7e9, sharing=Sharing.FIFO).cluster
    assert cluster.rate_bps(Port("b", "s")) == 7e9
    assert cluster.rate_bps(Port("a", "s")) == 50e9
    assert cluster.sharing_at(Port("b", "s")) is Sharing.FIFO


BAD_LINKS = [
    ({}, "has no rate", "50 Gbit/s"),
    ({"rate": 0}, "rate: 0 is out of range", "above zero"),
    ({"rate": "0 Gbit/s"}, "rate: '0 Gbit/s' is out of range", "above zero"),
    ({"rate": -5.0}, "out of range", "above zero"),
    ({"rate": float("nan")}, "out of range", "above zero"),
    ({"rate": float("inf")}, "out of range", "above zero"),
    ({"rate": 10**400}, "no unit", "50 Gbit/s"),
    ({"rate": True}, "no unit", "50 Gbit/s"),
    ({"rate": [1]}, "no unit", "50 Gbit/s"),
    ({"rate": "50 Gbs"}, "'Gbs' is not a unit", "50 Gbit/s"),
    ({"rate": "50 GB"}, "'GB' is not a unit", "50 Gbit/s"),
    ({"rate": "fast"}, "not a number with a unit", "50 Gbit/s"),
    ({"rate": 1e9, "sharing": "fare"}, "the sharing 'fare' is not known", "'fair', 'weighted'"),
    ({"rate": 1e9, "sharing": 3}, "the sharing 3 is not known", "'fifo'"),
    ({"rate": 1e9, "buffer": "9 kbit/s"}, "buffer: '9 kbit/s'", "500 GB"),
    ({"rate": 1e9, "buffer": -1}, "buffer: -1 is out of range", "above zero"),
    ({"rate": 1e9, "buffer": 0.25}, "a buffer of 0 bytes", "a byte or more"),
]  # fmt: skip


@pytest.mark.parametrize(("attributes", "problem", "allowed"), BAD_LINKS)
def test_a_bad_attribute_is_refused_at_its_link(
    tmp_path: Path, attributes: dict[str, Any], problem: str, allowed: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        read(tmp_path, pair(**attributes))
    assert caught.value.file == tmp_path / "topology.json"
    assert caught.value.key in ("link 's' to 'b'", "link 'b' to 's'")
    assert problem in caught.value.problem
    assert allowed in caught.value.allowed


@pytest.mark.parametrize(
    ("node", "key", "problem"),
    [
        ({"id": "t"}, "node 't'", "not connected"),
        ({"id": "a"}, "node 'a'", "stands 2 times"),
        ({"id": "Rack 1"}, "node 'Rack 1'", "namespace's name"),
        ({"id": "t", "kind": "router"}, "node 't'", "the kind 'router'"),
        ({"id": "t", "kind": 5}, "node 't'", "the kind 5"),
    ],
)
def test_a_bad_node_is_refused_by_its_name(
    tmp_path: Path, node: dict[str, Any], key: str, problem: str
) -> None:
    data = nx.node_link_data(pair(rate=1e9))
    data["nodes"].append(node)
    error = refusal(tmp_path / "topology.json", json.dumps(data))
    assert error.key == key
    assert problem in error.problem


def test_parallel_links_are_refused_with_what_to_do(tmp_path: Path) -> None:
    data = nx.node_link_data(pair(rate=1e9))
    data["edges"].append({"source": "b", "target": "s", "rate": 1e9})
    error = refusal(tmp_path / "topology.json", json.dumps(data))
    assert error.key == "link 'b' to 's'"
    assert "added up" in error.allowed


@pytest.mark.parametrize("ending", WRITERS)
def test_a_directed_graph_is_refused(tmp_path: Path, ending: str) -> None:
    with pytest.raises(BadInputError, match="directed") as caught:
        read(tmp_path, pair(rate=1e9).to_directed(), ending)
    assert "to_undirected" in caught.value.allowed


def test_rates_above_10_terabit_are_pointed_out(tmp_path: Path) -> None:
    assert read(tmp_path, pair(rate="10 Tbit/s")).warnings == ()
    (one,) = read(tmp_path, pair(rate="50 TB/s")).warnings
    assert one.startswith("the link s to b with 400 Tbit/s is faster than 10 Tbit/s: ")
    graph = pair(rate=2e13)
    graph.add_edge("c", "s", rate=3e13)
    (both,) = read(tmp_path, graph).warnings
    assert both.startswith("2 links, the first of them s to b with 20 Tbit/s, are faster than")


def test_small_numbers_without_a_unit_are_pointed_out(tmp_path: Path) -> None:
    (warning,) = read(tmp_path, pair(rate=50)).warnings
    assert warning.startswith("the link s to b with 50 bit/s is slower than 1 Mbit/s: ")
    assert read(tmp_path, pair(rate="50 kbit/s")).warnings == ()


def test_a_file_that_is_too_large_or_absent_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        read_topology(tmp_path / "absent.gml")
    monkeypatch.setattr(imported, "MAX_FILE_BYTES", 10)
    with pytest.raises(BadInputError, match="too large"):
        read(tmp_path, pair(rate=1e9))


def test_an_empty_graph_has_no_server(tmp_path: Path) -> None:
    assert "no server" in refusal(tmp_path / "t.json", '{"nodes": [], "edges": []}').problem


def test_links_keep_the_order_of_the_file(tmp_path: Path) -> None:
    data = {
        "nodes": [{"id": name} for name in "sba"],
        "links": [
            {"source": "b", "target": "s", "rate": 2e9},
            {"source": "s", "target": "a", "rate": 1e9},
        ],
    }
    file = tmp_path / "t.json"
    file.write_text(json.dumps(data))
    cluster = read_topology(file).cluster
    assert (cluster.servers, cluster.links) == (
        ("b", "a"),
        (Link("b", "s", 2e9), Link("s", "a", 1e9)),
    )


GML_SCRAPS = [" graph", " node", " edge", " [", " ]", " id", " source", " label", ' "a"', " 0"]
XML_SCRAPS = ["<graphml>", "<graph>", "<node id='a'>", "</node>", "<edge/>", "<data key='k'>"]
JSON_SCRAPS = ["{", "}", '"nodes":', '"edges":', '"id":', "null", ",", "&#9;", "&#1114112;"]
SCRAPS = st.lists(st.sampled_from([*GML_SCRAPS, *XML_SCRAPS, *JSON_SCRAPS]), max_size=20).map(
    "".join
)


@given(st.text() | SCRAPS, st.sampled_from(sorted(WRITERS)))
@example('graph [ node [ id 0 label "&#99999999999;" ] ]', "gml")
@example("graph [ node [ id [ a 1 ] ] ]", "gml")
@example("graph [ node [ id 0 label [ a 1 ] ] ]", "gml")
@example("graph [ node 3 ]", "gml")
@example("graph [ " * 5000, "gml")
@example("[" * 100_000, "json")
@example("1" * 5000, "json")
@example('{"nodes": [{"id": null}], "edges": []}', "json")
@example("<a>" * 100_000, "graphml")
def test_whatever_a_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str, ending: str
) -> None:
    file = tmp_path_factory.getbasetemp() / f"scraps.{ending}"
    file.write_text(text, encoding="utf-8", errors="replace")
    with pytest.raises(BadInputError) as caught:
        read_topology(file)
    assert caught.value.file == file
