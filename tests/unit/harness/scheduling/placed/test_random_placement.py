"""First come, first served, on any GPUs."""

from __future__ import annotations

from harness.scheduling.placed.policy import Placement
from harness.scheduling.placed.random_placement import RandomPlacement
from tests.unit.harness.scheduling.placed.builders import RATE_BPS, SEED, job, servers_of
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.single_switch import single_switch

TESTBED = servers_of(cassini_24())


def test_first_come_first_served() -> None:
    """The second does not fit; rho, which is the least for the third, does not matter."""
    jobs = [job("a", 20), job("b", 8, submit_s=1), job("c", 4, submit_s=2, left=1e6)]
    (placement,) = RandomPlacement(TESTBED, SEED).placements(jobs, 100.0, most=10)
    assert {name: len({*servers}) for name, servers in placement.items()} == {"a": 20, "c": 4}


def test_what_runs_stays_even_before_those_that_came_earlier() -> None:
    held = TESTBED.cluster.servers[:20]
    jobs = [job("waits", 5), job("runs", 20, submit_s=50, servers=held)]
    (placement,) = RandomPlacement(TESTBED, SEED).placements(jobs, 100.0, most=1)
    assert placement == {"runs": held}


def test_every_gpu_is_drawn_and_in_any_order() -> None:
    """In 200 draws of 2 out of 3 servers, all six ordered pairs come up."""
    servers = servers_of(single_switch(3, RATE_BPS))
    policy = RandomPlacement(servers, SEED)
    drawn = {policy.placements([job("a", 2)], 0.0, 1)[0]["a"] for _ in range(200)}
    assert len(drawn) == 6


def test_servers_with_several_gpus() -> None:
    servers = servers_of(single_switch(2, RATE_BPS), gpus=2)
    jobs = [job("a", 1, servers=("server1",)), job("b", 3)]
    (placement,) = RandomPlacement(servers, SEED).placements(jobs, 0.0, 1)
    assert sorted(placement["b"]) == ["server0", "server0", "server1"]


def test_a_job_larger_than_the_cluster_hinders_nobody() -> None:
    jobs = [job("huge", 25), job("a", 24, submit_s=1)]
    (placement,) = RandomPlacement(TESTBED, SEED).placements(jobs, 100.0, 1)
    assert set(placement) == {"a"}


def test_a_seed_repeats_every_decision() -> None:
    jobs = [job(f"job{index}", 5, submit_s=index) for index in range(4)]

    def run(seed: int) -> list[Placement]:
        policy = RandomPlacement(TESTBED, seed)
        return [policy.placements(jobs, now_s, 1)[0] for now_s in (100.0, 120.0)]

    assert run(1) == run(1)
    assert run(1) != run(2)
