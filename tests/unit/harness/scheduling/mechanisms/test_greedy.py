"""Synergy-GREEDY as a mechanism: whole wishes or nothing."""

from __future__ import annotations

import numpy as np

from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands
from harness.scheduling.mechanisms import MECHANISMS
from tests.unit.harness.scheduling_builders import (
    Kind,
    active_of,
    demands_of,
    places_in,
    pool_of,
    table_of,
)
from traces.server_pool import ServerGroup, ServerPool

TWO_TYPES = ServerPool((ServerGroup(1, 2, 6, 1e12), ServerGroup(1, 2, 6, 1e12, gpu_type="a100")))


def greedy(pool: ServerPool, demands: Demands, kinds: list[int], order: list[int]) -> Allocation:
    table = table_of(demands, iterations=[1] * len(kinds), kinds=kinds)
    mechanism = MECHANISMS["greedy"](demands, pool, "best-fit")
    active = active_of(table, demands, pool)
    return mechanism.allocate(active, np.array(order), Allocation.nothing())


def test_gpus_stay_idle_where_cpus_are_exhausted() -> None:
    pool = pool_of(servers=1, gpus=4)
    demands = demands_of(pool, Kind(cpus=10, speedup=2), Kind(cpus=3), Kind(cpus=2))
    allocation = greedy(pool, demands, [1, 0, 2], order=[1, 0, 2])
    assert allocation.jobs.tolist() == [1, 2]
    assert allocation.share[:, 0].tolist() == [10, 2]
    assert allocation.iteration_s.tolist() == [0.5, 1]
    assert not allocation.held_to_fair_share.any()


def test_jobs_are_ascending_whatever_their_order() -> None:
    pool = pool_of(servers=3, gpus=1)
    allocation = greedy(pool, demands_of(pool, Kind()), [0, 0, 0], order=[2, 0, 1])
    assert allocation.jobs.tolist() == [0, 1, 2]
    assert places_in(allocation) == {2: {0: 1}, 0: {1: 1}, 1: {2: 1}}


def test_types_of_gpu_are_filled_one_after_the_other() -> None:
    demands = demands_of(TWO_TYPES, Kind(num_gpus=2), Kind(num_gpus=1))
    allocation = greedy(TWO_TYPES, demands, [1, 0, 1, 1], order=[0, 1, 2, 3])
    assert allocation.gpu_type.tolist() == [0, 1, 0]
    assert places_in(allocation) == {0: {0: 1}, 1: {1: 2}, 2: {0: 1}}


def test_a_job_does_not_run_on_a_type_that_it_has_no_profile_for() -> None:
    demands = demands_of(TWO_TYPES, Kind(), Kind())
    demands.wish_iteration_s[1, 0] = np.inf
    allocation = greedy(TWO_TYPES, demands, [1, 0], order=[0, 1])
    assert allocation.gpu_type.tolist() == [1, 0]
