"""TUNE is never worse than the GPU-proportional share, for any job, model and cluster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands
from harness.scheduling.mechanisms import MECHANISMS
from harness.scheduling.mechanisms.mechanism import Placement
from tests.unit.harness.random_workloads import Workload, random_workload, used_by_server
from tests.unit.harness.scheduling_builders import active_of

ROUNDING = 2e-9
ROUNDS = 3


def fair_iteration_s(workload: Workload, allocation: Allocation) -> np.ndarray:
    kinds = workload.table.kind[allocation.jobs]
    return workload.demands.fair_iteration_s[kinds, allocation.gpu_type]


def check_allocation(workload: Workload, allocation: Allocation) -> None:
    """What holds under every mechanism: jobs have their GPUs, and no server gives too much."""
    pool, jobs = workload.pool, allocation.jobs
    assert (np.diff(jobs) > 0).all()
    counts = np.diff(allocation.offsets)
    assert (counts > 0).all()
    assert (allocation.gpus > 0).all()
    of_job = np.repeat(np.arange(len(jobs)), counts)
    num_gpus = np.bincount(of_job, allocation.gpus, len(jobs))
    np.testing.assert_array_equal(num_gpus, workload.table.num_gpus[jobs])
    first = pool.first_server[allocation.gpu_type[of_job]]
    end = pool.first_server[allocation.gpu_type[of_job] + 1]
    assert ((first <= allocation.servers) & (allocation.servers < end)).all()
    gpus = allocation.gpus.astype(float)
    assert (used_by_server(pool, allocation.servers, gpus) <= pool.gpus).all()
    amounts = allocation.share[of_job] * allocation.gpus[:, None]
    given_out = used_by_server(pool, allocation.servers, amounts)
    assert (given_out <= pool.resources * (1 + ROUNDING)).all()


def rounds_of(
    workload: Workload, rng: np.random.Generator, placement: Placement
) -> list[tuple[Allocation, Allocation]]:
    """(tune, proportional) for the same jobs in the same order, round after round."""
    tune, proportional = (
        MECHANISMS[name](workload.demands, workload.pool, placement)
        for name in ("tune", "proportional")
    )
    both = Allocation.nothing(), Allocation.nothing()
    pairs = []
    for _ in range(ROUNDS):
        # A third of the jobs has not come yet, or is gone, in each round.
        jobs = np.flatnonzero(rng.random(len(workload.table)) < 0.67)
        active = active_of(workload.table, workload.demands, workload.pool, jobs=jobs)
        order = rng.permutation(len(jobs))
        both = (
            tune.allocate(active, order, both[0]),
            proportional.allocate(active, order, both[1]),
        )
        pairs.append(both)
    return pairs


def workload_of(seed: int, types: int, gives_storage: bool) -> tuple[Workload, np.random.Generator]:
    rng = np.random.default_rng(seed)
    jobs = int(rng.integers(1, 120))
    return random_workload(rng, types=types, gives_storage=gives_storage, jobs=jobs), rng


@settings(max_examples=250)
@given(
    seed=st.integers(0, 2**32 - 1),
    types=st.sampled_from([1, 2]),
    gives_storage=st.booleans(),
    placement=st.sampled_from(["best-fit", "balanced"]),
)
def test_no_job_is_slower_than_with_its_fair_share_and_no_gpu_idles_that_would_not(
    seed: int, types: int, gives_storage: bool, placement: Placement
) -> None:
    workload, rng = workload_of(seed, types, gives_storage)
    for tune, proportional in rounds_of(workload, rng, placement):
        check_allocation(workload, tune)
        check_allocation(workload, proportional)
        np.testing.assert_array_equal(tune.jobs, proportional.jobs)
        np.testing.assert_array_equal(tune.gpu_type, proportional.gpu_type)
        due_s = fair_iteration_s(workload, tune)
        assert (tune.iteration_s <= due_s * (1 + ROUNDING)).all()
        np.testing.assert_array_equal(proportional.iteration_s, due_s)
        held = tune.held_to_fair_share
        np.testing.assert_array_equal(tune.iteration_s[held], due_s[held])
        assert not proportional.held_to_fair_share.any()


def held_and_granted(demands: Demands, tune: Allocation, workload: Workload) -> tuple[int, int]:
    """Jobs that wished for more than their fair share: how many did not get it, and did."""
    above = demands.above_fair[workload.table.kind[tune.jobs], tune.gpu_type]
    held = tune.held_to_fair_share
    assert not (held & ~above).any()
    return int(held.sum()), int((above & ~held).sum())


@pytest.mark.parametrize("types", [1, 2])
@pytest.mark.parametrize("gives_storage", [False, True])
def test_the_random_workloads_hold_some_jobs_and_grant_others_their_wish(
    types: int, gives_storage: bool
) -> None:
    held = granted = faster = 0
    for seed in range(25):
        workload, rng = workload_of(seed, types, gives_storage)
        for tune, _ in rounds_of(workload, rng, "best-fit"):
            counts = held_and_granted(workload.demands, tune, workload)
            held, granted = held + counts[0], granted + counts[1]
            faster += int((tune.iteration_s < fair_iteration_s(workload, tune)).sum())
    assert min(held, granted, faster) > 20
