"""Under a steady policy, rounds without a decision change nothing: only time is saved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.scheduling.policies import POLICIES
from harness.simulation.round_cluster import RoundSemantics
from tests.unit.harness.random_workloads import Workload, random_workload
from tests.unit.harness.scheduling_builders import (
    ROUND_S,
    Kind,
    Run,
    demands_of,
    run_jobs,
    table_of,
)
from traces.server_pool import ServerGroup, ServerPool

STEADY = sorted(name for name, make in POLICIES.items() if make().steady)
EXACTLY = RoundSemantics(ROUND_S, "round-end", "whole-iterations", restart_s=30.0)
"""With whole iterations in each round, and ends at its end, all sums are free of rounding."""


def workload_of(seed: int) -> Workload:
    rng = np.random.default_rng(seed)
    return random_workload(rng, jobs=40, mean_gap_s=40, mean_iterations=1000)


def both_ways(seed: int, policy: str, mechanism: str, semantics: RoundSemantics) -> tuple[Run, Run]:
    """A run with jumps, and one that decides every round."""
    jumps, steps = (
        run_jobs(workload.table, workload.demands, workload.pool, each, mechanism, semantics)
        for workload, each in (
            (workload_of(seed), POLICIES[policy]()),
            (workload_of(seed), replace(POLICIES[policy](), steady=False)),
        )
    )
    return jumps, steps


@pytest.mark.parametrize("mechanism", ["proportional", "tune"])
@pytest.mark.parametrize("policy", STEADY)
def test_jobs_end_when_they_would_if_every_round_were_decided(policy: str, mechanism: str) -> None:
    for seed in range(5):
        jumps, steps = both_ways(seed, policy, mechanism, EXACTLY)
        np.testing.assert_array_equal(jumps.table.finish_s, steps.table.finish_s)
        np.testing.assert_array_equal(jumps.table.start_s, steps.table.start_s)
        np.testing.assert_array_equal(jumps.table.attained_s, steps.table.attained_s)
        np.testing.assert_array_equal(jumps.table.leases, steps.table.leases)
        assert jumps.leases.rows == steps.leases.rows
        assert jumps.rounds.rounds == steps.rounds.rounds == steps.rounds.decisions


@pytest.mark.parametrize("policy", STEADY)
def test_so_they_do_when_iterations_go_on_from_round_to_round(policy: str) -> None:
    for seed in range(5):
        jumps, steps = both_ways(seed, policy, "tune", RoundSemantics(ROUND_S))
        np.testing.assert_allclose(jumps.table.finish_s, steps.table.finish_s, rtol=1e-9)
        np.testing.assert_array_equal(jumps.table.leases, steps.table.leases)


def test_jumps_save_decisions() -> None:
    jumps, steps = both_ways(0, "fifo", "tune", EXACTLY)
    assert jumps.rounds.decisions < steps.rounds.decisions / 2


@pytest.mark.parametrize("mechanism", ["proportional", "tune"])
def test_nothing_is_skipped_where_running_jobs_may_swap_types_of_gpu(mechanism: str) -> None:
    """Service left after rounds 0 to 3: 1000, 900, 800, 700 and 1200, 1000, 800, 600 GPU-seconds.

    So after three rounds the larger job takes the fast GPUs, and ends at 450 s rather than 600 s.
    """
    groups = (ServerGroup(1, 4, 12, 1e12, gpu_type="fast"), ServerGroup(1, 4, 12, 1e12))
    pool = ServerPool(groups)
    demands = demands_of(pool, Kind(num_gpus=1), Kind(num_gpus=4))
    for seconds in (demands.fair_iteration_s, demands.wish_iteration_s):
        seconds[:, 1] = 2.0
    table = table_of(demands, iterations=[1000, 300], kinds=[0, 1])
    run = run_jobs(table, demands, pool, "srsf", mechanism)
    assert run.table.finish_s.tolist() == [1100, 450]
