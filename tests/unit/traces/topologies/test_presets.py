"""The presets by name."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from traces.cluster import Cluster, Port, Sharing
from traces.topologies import PRESETS
from traces.topologies.single_switch import single_switch


def test_the_presets_are_these() -> None:
    known = {"single-switch", "dumbbell", "leaf-spine", "fat-tree", "cassini-24"}
    assert set(PRESETS) == known


@pytest.mark.parametrize("name", PRESETS)
def test_each_builds_a_cluster_from_a_rate_alone(name: str) -> None:
    given = {"rate": "10 Gbit/s", "sharing": "priority"}
    cluster = PRESETS[name].model_validate(given).build()
    assert isinstance(cluster, Cluster)
    assert cluster.sharing is Sharing.PRIORITY
    assert cluster.rate_bps(Port(cluster.servers[0], next(iter(cluster.graph[cluster.servers[0]]))))
    assert cluster.path(cluster.servers[0], cluster.servers[-1])


@pytest.mark.parametrize("name", PRESETS)
def test_each_refuses_keys_that_it_does_not_know(name: str) -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        PRESETS[name].model_validate({"rate": "10 Gbit/s", "rings": 3})


def test_a_single_switch_has_a_link_to_every_server() -> None:
    cluster = single_switch(5, 1e9)
    assert cluster.switches == ("switch",)
    assert [(link.a, link.b) for link in cluster.links] == [
        (f"server{n}", "switch") for n in range(5)
    ]
