"""The networks of an arm, and what of it cannot be emulated yet."""

from __future__ import annotations

import pytest

from emulator.networks import plan_arm
from emulator.scale import ScalePlan
from tests.unit.builders import make_arm, toy_cluster, toy_pair
from traces.cluster import Sharing
from traces.errors import BadInputError

SCALE = ScalePlan(10.0, 1e10, "a test", 1e9, 1000.0, "a test")


def test_a_dedicated_arm_has_a_network_for_each_job() -> None:
    networks = plan_arm(make_arm(dedicated=True), SCALE, "run1", first_network=3)
    assert [network.name for network in networks] == ["n3", "n4"]
    assert [[job.id for job in network.jobs] for network in networks] == [["one"], ["two"]]


def test_a_path_other_than_the_first_is_refused_at_its_job() -> None:
    one, two = toy_pair()
    arm = make_arm((one, two.model_copy(update={"path_variant": 1})))
    with pytest.raises(BadInputError, match="cannot be emulated yet") as caught:
        plan_arm(arm, SCALE, "run1")
    assert caught.value.key == "workload.jobs.1.path"


@pytest.mark.parametrize("sharing", [Sharing.WEIGHTED, Sharing.PRIORITY])
def test_a_discipline_that_cannot_be_shaped_yet_is_refused(sharing: Sharing) -> None:
    with pytest.raises(BadInputError, match=f"'{sharing}' is not possible yet") as caught:
        plan_arm(make_arm(cluster=toy_cluster(sharing)), SCALE, "run1")
    assert caught.value.key == "cluster.sharing"
