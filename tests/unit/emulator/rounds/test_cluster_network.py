"""Every server has a way to the others and to storage, and storage itself is never the limit."""

from __future__ import annotations

import pytest

from emulator.rounds.cluster_network import (
    STORAGE,
    STORAGE_SWITCH,
    ClusterNetwork,
    plan_cluster_network,
    server_name,
    slot_name,
)
from traces.cluster import Port

STORAGE_BPS, FABRIC_BPS, DIVISOR, SLOTS = 4e9, 40e9, 10.0, 3


def planned(num_servers: int) -> ClusterNetwork:
    return plan_cluster_network("run1", num_servers, SLOTS, STORAGE_BPS, FABRIC_BPS, DIVISOR)


@pytest.mark.parametrize("num_servers", [1, 2, 4])
def test_data_come_through_a_port_of_the_server_s_own(num_servers: int) -> None:
    network = planned(num_servers)
    ports = [network.storage_port(server) for server in range(num_servers)]
    assert len(set(ports)) == num_servers
    for port in ports:
        assert network.plan.ports[port].shape.rate_bps == STORAGE_BPS / DIVISOR


@pytest.mark.parametrize("num_servers", [1, 2, 4])
def test_the_storage_server_s_own_link_is_never_the_bottleneck(num_servers: int) -> None:
    network = planned(num_servers)
    ports = [network.storage_port(server) for server in range(num_servers)]
    wanted_bps = sum(network.plan.ports[port].shape.rate_bps for port in ports)
    assert network.plan.ports[Port(STORAGE, STORAGE_SWITCH)].shape.rate_bps >= wanted_bps


@pytest.mark.parametrize("num_servers", [1, 2, 4])
def test_every_node_has_a_namespace_and_every_slot_a_class(num_servers: int) -> None:
    network = planned(num_servers)
    servers = {server_name(server) for server in range(num_servers)}
    assert servers | {STORAGE} <= set(network.plan.namespaces)
    slots = {slot_name(slot) for slot in range(SLOTS)}
    assert len({network.plan.job_dscp[slot] for slot in slots}) == SLOTS
    for server in range(num_servers):
        of_job = network.plan.ports[network.storage_port(server)].classes.of_job
        assert slots <= set(of_job)
        assert len({of_job[slot] for slot in slots}) == SLOTS
