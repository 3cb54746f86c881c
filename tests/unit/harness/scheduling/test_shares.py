"""Unequal shares and priorities by GPU intensity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.scheduling.shares import gpu_intensity, with_shares
from harness.simulation.fluid import simulate
from tests.unit.builders import TOY_ALONE_S, make_arm, make_job, toy_cluster, toy_pair, toy_transfer
from traces.arm import Arm
from traces.cluster import Sharing
from traces.demand import Demand
from traces.errors import BadInputError
from traces.scenario_spec import SchedulerSpec

ITERATIONS = 40


def arm_with(shares: str, sharing: Sharing) -> Arm:
    return make_arm(
        cluster=replace(toy_cluster(), sharing=sharing),
        scheduler=SchedulerSpec.model_validate({"shares": shares}),
    )


def last_times_s(arm: Arm) -> list[float]:
    """Mean iteration time of each job, once they have had time to slip apart."""
    found = simulate(arm.cluster, arm.jobs, ITERATIONS).iterations
    return [
        float(np.mean([span.end_s - span.start_s for span in spans[ITERATIONS // 2 :]]))
        for spans in found.values()
    ]


def test_shares_that_are_given_stay() -> None:
    arm = make_arm()
    assert with_shares(arm) is arm


def test_with_unequal_shares_jobs_come_to_take_turns() -> None:
    even = last_times_s(make_arm())
    assert min(even) > TOY_ALONE_S * 1.1
    found = with_shares(arm_with("unequal", Sharing.WEIGHTED))
    assert [job.weight for job in found.jobs] == [8.0, 4.0]
    assert last_times_s(found) == pytest.approx([TOY_ALONE_S] * 2, rel=1e-3)


def test_the_job_whose_gpus_lose_most_by_waiting_goes_first() -> None:
    busy = make_job("busy", ("left0", "right0"), Demand(1.0, (toy_transfer(),)))
    idle = make_job("idle", ("left1", "right1"), Demand(0.1, (toy_transfer(),)))
    arm = arm_with("gpu-intensity", Sharing.PRIORITY).model_copy(update={"jobs": (busy, idle)})
    assert [job.priority for job in with_shares(arm).jobs] == [1, 0]


def test_many_jobs_share_the_classes_that_there_are() -> None:
    jobs = tuple(toy_pair()[0].model_copy(update={"id": f"job{n}"}) for n in range(20))
    arm = arm_with("gpu-intensity", Sharing.PRIORITY).model_copy(update={"jobs": jobs})
    priorities = [job.priority for job in with_shares(arm).jobs]
    assert (min(priorities), max(priorities)) == (0, 7)


def test_intensity_is_the_same_before_and_after_a_job_is_placed_on_links_alike() -> None:
    placed = toy_pair()[0]
    waiting = placed.model_copy(update={"servers": ()})
    cluster = toy_cluster()
    assert gpu_intensity(cluster, waiting) == pytest.approx(gpu_intensity(cluster, placed))


def test_a_job_that_sends_nothing_comes_before_all() -> None:
    silent = make_job("silent", ("left0", "right0"), Demand(0.1, ()))
    assert gpu_intensity(toy_cluster(), silent) == float("inf")


@pytest.mark.parametrize("shares", ["unequal", "gpu-intensity"])
def test_ports_that_would_not_look_at_them_are_refused(shares: str) -> None:
    with pytest.raises(BadInputError, match="ports have to share by") as caught:
        with_shares(arm_with(shares, Sharing.FAIR))
    assert caught.value.key == "cluster.sharing"
