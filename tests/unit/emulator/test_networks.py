"""The networks of an arm: what each job gets from its discipline and its path."""

from __future__ import annotations

import pytest

from emulator.networks import plan_arm
from emulator.scale import ScalePlan
from netshaper.ecn.marking import Marking
from netshaper.shaping import FRAME_BYTES
from tests.unit.builders import GBIT, make_arm, make_job, toy_cluster, toy_pair
from traces.cluster import Port, Sharing
from traces.errors import MissingCapabilityError
from traces.link_events import Change, LinkEvent
from traces.scenario_spec import TransportSpec
from traces.topologies.leaf_spine import leaf_spine

SCALE = ScalePlan(10.0, 1e10, "a test", 1e9, 1000.0, "a test")
MARKED = make_arm().model_copy(
    update={"transport": TransportSpec.model_validate({"ecn_threshold": "30 kB"})}
)


def test_a_dedicated_arm_has_a_network_for_each_job() -> None:
    networks = plan_arm(make_arm(dedicated=True), SCALE, "run1", first_network=3)
    assert [network.name for network in networks] == ["n3", "n4"]
    assert [[job.id for job in network.jobs] for network in networks] == [["one"], ["two"]]


@pytest.mark.parametrize("sharing", Sharing)
def test_the_network_knows_what_each_job_is_given_by_its_discipline(sharing: Sharing) -> None:
    one, two = toy_pair()
    heavy = two.model_copy(update={"weight": 3.0, "priority": 7})
    (network,) = plan_arm(make_arm((one, heavy), cluster=toy_cluster(sharing)), SCALE, "run1")
    end = network.plan.ports[Port("switch-left", "switch-right")]
    found = [(leaf.quantum_bytes, leaf.turn) for leaf in end.classes.leaves]
    assert (
        found
        == {
            Sharing.FAIR: [(FRAME_BYTES, 0), (FRAME_BYTES, 0)],
            Sharing.WEIGHTED: [(FRAME_BYTES, 0), (3 * FRAME_BYTES, 0)],
            Sharing.PRIORITY: [(FRAME_BYTES, 7), (FRAME_BYTES, 0)],
            Sharing.FIFO: [(FRAME_BYTES, 0)],
        }[sharing]
    )


def test_a_path_other_than_the_first_has_addresses_of_its_own() -> None:
    one = make_job("one", ("server0", "server2"))
    two = make_job("two", ("server1", "server3")).model_copy(update={"path_variant": 1})
    arm = make_arm((one, two), cluster=leaf_spine(4, 2, 2, GBIT))
    (network,) = plan_arm(arm, SCALE, "run1")
    addresses = network.plan.addresses
    assert addresses.variants == (0, 1)
    assert addresses.server("server3", 1) != addresses.server("server3", 0)


def test_a_threshold_that_nothing_here_can_keep_is_not_planned() -> None:
    (network,) = plan_arm(MARKED, SCALE, "run1", marking=Marking.UNAVAILABLE)
    assert network.plan.marking is Marking.UNAVAILABLE
    assert all(end.marker is None for end in network.plan.ports.values())
    (network,) = plan_arm(MARKED, SCALE, "run1", marking=Marking.MARKER)
    assert any(end.marker is not None for end in network.plan.ports.values())


def test_a_queue_cannot_both_mark_and_add_latency() -> None:
    later = LinkEvent(1.0, toy_cluster().links[0], Change.LATENCY, 1e-3, GBIT)
    arm = MARKED.model_copy(update={"events": (later,)})
    with pytest.raises(MissingCapabilityError, match="either adds latency or marks"):
        plan_arm(arm, SCALE, "run1", marking=Marking.RED)
    (network,) = plan_arm(arm, SCALE, "run1", marking=Marking.MARKER)
    assert len(network.changes) == 1
