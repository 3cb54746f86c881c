"""The cluster of a scenario: a preset, a topology from a file, and what jobs say of their paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import SCENARIO, edited, line_of, write_scenario
from tests.unit.traces.scenarios import FIFO, refusal
from traces.cluster import Port, Sharing
from traces.errors import BadInputError
from traces.scenario import load_scenario

LEAF_SPINE = """\
name: two-paths
cluster: {preset: leaf-spine, servers: 4, leaves: 2, spines: 3, rate: 50 Gbit/s}
workload:
  jobs:
    - {id: a, profile: vgg19, servers: [server0, server2], path: 2, weight: 2.5, priority: 3}
    - {id: b, profile: vgg19, servers: [server1, server3]}
arms:
  weighted: {cluster: {sharing: weighted}}
  priority: {cluster: {sharing: priority}}
"""


def test_jobs_have_weights_priorities_and_paths(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path, LEAF_SPINE))
    assert [arm.cluster.sharing for arm in scenario.arms] == [Sharing.WEIGHTED, Sharing.PRIORITY]
    for arm in scenario.arms:
        assert [(job.weight, job.priority, job.path_variant) for job in arm.jobs] == [
            (2.5, 3, 2),
            (1.0, 0, 0),
        ]


def test_a_path_beyond_the_equal_ones_is_refused_with_their_number(tmp_path: Path) -> None:
    text = edited(LEAF_SPINE, "path: 2", "path: 3")
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == ("workload.jobs.0.path", line_of(text, "path: 3"))
    assert error.problem.startswith("there is no path 3 between its servers")
    assert error.allowed == "0 to 2"


def test_a_pair_with_one_path_does_not_keep_the_others_from_theirs(tmp_path: Path) -> None:
    servers = "[server0, server1, server2, server3]"
    text = edited(LEAF_SPINE, "[server0, server2]", servers)
    (arm, _) = load_scenario(write_scenario(tmp_path, text)).arms
    assert arm.jobs[0].path_variant == 2


@pytest.mark.parametrize(
    ("cluster", "counts"),
    [
        ("{preset: single-switch, servers: 3, rate: 1 Gbit/s}", (3, 1, 3)),
        ("{preset: fat-tree, k: 4, rate: 1 Gbit/s}", (16, 20, 48)),
        ("{preset: cassini-24}", (24, 13, 48)),
        ("{preset: cassini-24, dedicated: true, sharing: fifo}", (24, 13, 48)),
    ],
)
def test_a_preset_has_its_own_keys(
    tmp_path: Path, cluster: str, counts: tuple[int, int, int]
) -> None:
    jobs = "[{id: a, profile: vgg19, servers: [server0, server2]}]"
    text = f"name: least\ncluster: {cluster}\nworkload: {{jobs: {jobs}}}\n"
    (arm,) = load_scenario(write_scenario(tmp_path, text)).arms
    found = arm.cluster
    assert (len(found.servers), len(found.switches), len(found.links)) == counts
    assert arm.dedicated == ("dedicated" in cluster)


@pytest.mark.parametrize(
    ("old", "new", "key", "problem", "allowed"),
    [
        ("leaves: 2", "k: 2", "k", "unknown key", "leaves, spines, oversubscription, dedicated"),
        ("servers: 4, leaves", "servers: 5, leaves", "servers", "5 servers cannot", "multiple of"),
        ("spines: 3", "spines: 0", "spines", "0 is not allowed", "equal to 1"),
        (", rate: 50 Gbit/s}", "}", "rate", "the key is missing", "preset, rate, sharing"),
        ("leaf-spine", "fat-tree", "servers", "unknown key", "preset, rate, sharing, fabric, k"),
        ("leaf-spine", "[x]", "preset", "is not known", "'leaf-spine', 'fat-tree'"),
        ("preset: leaf-spine", "topology: x.gml", "servers", "unknown key", "topology, rate"),
        ("preset", "topology: x.gml, preset", "topology", "at once", "one of"),
    ],
)
def test_a_bad_key_of_a_preset_is_refused_where_it_stands(
    tmp_path: Path, old: str, new: str, key: str, problem: str, allowed: str
) -> None:
    text = edited(LEAF_SPINE, old, new)
    error = refusal(tmp_path, text)
    assert (error.key, error.line) == (f"cluster.{key}", 2)
    assert problem in error.problem
    assert allowed in error.allowed


TOPOLOGY = """\
graph [
  node [ id 0 label "left0" ]
  node [ id 1 label "right0" ]
  node [ id 2 label "s" ]
  edge [ source 0 target 2 rate "60 TB/s" ]
  edge [ source 1 target 2 ]
]
"""


def with_topology(directory: Path, cluster: str, topology: str = TOPOLOGY) -> str:
    (directory / "ring.gml").write_text(topology)
    jobs = "[{id: a, profile: vgg19, servers: [left0, right0]}]"
    return f"name: least\ncluster: {cluster}\nworkload: {{jobs: {jobs}}}\n"


def test_a_topology_may_be_a_file_beside_the_scenario(tmp_path: Path) -> None:
    cluster = "{topology: ring.gml, rate: 4 Gbit/s, sharing: fifo, dedicated: true}"
    scenario = load_scenario(write_scenario(tmp_path, with_topology(tmp_path, cluster)))
    (arm,) = scenario.arms
    assert arm.cluster.servers == ("left0", "right0")
    assert arm.cluster.sharing is Sharing.FIFO
    assert arm.dedicated
    assert arm.cluster.rate_bps(Port("s", "right0")) == 4e9
    (warning,) = scenario.warnings
    assert arm.warnings == (warning,)
    assert "480 Tbit/s" in warning


def test_an_absent_topology_is_refused_where_it_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path, with_topology(tmp_path, "{topology: rong.gml}"))
    assert (error.key, error.line) == ("cluster.topology", 2)
    assert error.problem == "'rong.gml' is not a file beside the scenario"


def test_a_bad_topology_is_refused_by_its_own_name(tmp_path: Path) -> None:
    text = with_topology(tmp_path, "{topology: ring.gml}")
    with pytest.raises(BadInputError, match="has no rate") as caught:
        load_scenario(write_scenario(tmp_path, text))
    assert caught.value.file == tmp_path / "ring.gml"
    assert caught.value.key == "link 'right0' to 's'"


def test_of_many_servers_an_error_names_some(tmp_path: Path) -> None:
    text = edited(LEAF_SPINE, "[server0, server2]", "[server0, x]")
    text = edited(text, "servers: 4, leaves", "servers: 40, leaves")
    error = refusal(tmp_path, text)
    assert error.allowed.startswith("server0, server1, ")
    assert error.allowed.endswith("server15, ... (40 in all)")


def test_an_arm_that_takes_away_a_server_is_named(tmp_path: Path) -> None:
    text = edited(SCENARIO, FIFO, "{servers_left: 1}")
    assert "fifo" in str(refusal(tmp_path, text))
