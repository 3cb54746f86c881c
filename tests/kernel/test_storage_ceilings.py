"""What a job may take of its server's storage link, changed under its traffic on a real network."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from emulator.rounds.cluster_network import (
    STORAGE,
    ClusterNetwork,
    plan_cluster_network,
    server_name,
    slot_name,
)
from emulator.rounds.storage_ceilings import StorageCeilings
from emulator.session import Session
from netshaper.apply import run_commands
from netshaper.ceilings import ceiling_command
from netshaper.netlink import NetlinkSocket
from tests.kernel.window_flow import WindowFlow, end_all, goodputs
from traces.errors import EmulationError

DIVISOR = 10.0
PORT_BPS = 20e6
LOW_BPS = 2e6
STRETCH_S = 1.0
HEADERS = 0.9
"""Of what a port carries, at least so much is payload."""


@pytest.fixture(name="network")
def built_network() -> Iterator[ClusterNetwork]:
    with Session("ceilings") as session:
        network = plan_cluster_network(
            session.state.run_id, 1, 2, PORT_BPS * DIVISOR, PORT_BPS * DIVISOR, DIVISOR
        )
        session.build_network(network.plan)
        yield network


def unscaled(bps: float) -> float:
    return bps * DIVISOR / 8


def test_a_ceiling_holds_under_traffic_and_takes_nothing_from_the_job_beside_it(
    network: ClusterNetwork,
) -> None:
    ceilings = StorageCeilings(network, 1, DIVISOR)
    held, beside = (slot_name(ceilings.take(0)) for _ in range(2))
    flows = [WindowFlow(network.plan, slot, STORAGE, server_name(0)) for slot in (held, beside)]
    for flow in flows:
        flow.start()
    try:
        free = goodputs(flows, STRETCH_S)
        ceilings.hold(0, 0, unscaled(LOW_BPS))
        low = goodputs(flows, STRETCH_S)
        ceilings.hold(0, 0, math.inf)
        lifted = goodputs(flows, STRETCH_S)
    finally:
        end_all(flows)
    assert low[held] <= LOW_BPS < min(free[held], lifted[held])
    assert low[held] > 0
    # What the one leaves, the other gets.
    assert low[beside] >= HEADERS * (PORT_BPS - LOW_BPS) > max(free[beside], lifted[beside])


def test_a_ceiling_that_the_kernel_does_not_hold_is_an_error(
    network: ClusterNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    ceilings = StorageCeilings(network, 1, DIVISOR)
    end = network.plan.ports[network.storage_port(0)]
    other = ceiling_command(end, slot_name(0), 2 * LOW_BPS)
    monkeypatch.setattr(
        "emulator.rounds.storage_ceilings.run_commands", lambda _: run_commands([other])
    )
    with pytest.raises(EmulationError, match=r"ceil \(bytes/s\): planned 250000, found 500000"):
        ceilings.hold(0, 0, unscaled(LOW_BPS))


def test_a_ceiling_leaves_the_class_of_the_job_beside_it_as_it_was(
    network: ClusterNetwork,
) -> None:
    end = network.plan.ports[network.storage_port(0)]
    reader = NetlinkSocket(end.namespace)
    try:
        index = reader.links()[end.device].index
        before = reader.classes(index)
        StorageCeilings(network, 1, DIVISOR).hold(0, 0, unscaled(LOW_BPS))
        after = reader.classes(index)
    finally:
        reader.close()
    changed = {minor for minor in before if before[minor] != after[minor]}
    assert changed == {end.classes.of_job[slot_name(0)]}


def test_no_more_jobs_than_slots(network: ClusterNetwork) -> None:
    ceilings = StorageCeilings(network, 1, DIVISOR)
    first = ceilings.take(0)
    ceilings.take(0)
    with pytest.raises(EmulationError, match="more jobs hold server 0 than it has GPUs"):
        ceilings.take(0)
    ceilings.give_back(0, first)
    assert ceilings.take(0) == first
