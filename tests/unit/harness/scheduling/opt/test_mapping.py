"""Synergy-OPT's second programme: shares of jobs on servers, few of them fragmented."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from harness.scheduling.opt.configurations import Capacity, InfeasibleError, choose_configurations
from harness.scheduling.opt.mapping import CAPACITY_TOLERANCE, ServerMapping, map_to_servers
from tests.unit.harness.scheduling.opt.builders import (
    CPUS_PER_GPU,
    MEMORY_PER_GPU,
    jobs_of,
    random_class,
)


def synergy_servers(count: int, cpus: float = 24.0) -> Capacity:
    return Capacity(np.full(count, 8.0), np.full(count, cpus), np.full(count, 500e9))


def mapped(
    demand: NDArray[np.float64], servers: Capacity, allowed: NDArray[np.bool_] | None = None
) -> ServerMapping:
    """``demand``: a row of GPUs, CPUs and bytes for each job."""
    return map_to_servers(*demand.reshape(-1, 3).T, servers, allowed)


def random_jobs(
    seed: int, fullness: float
) -> tuple[NDArray[np.float64], Capacity, NDArray[np.bool_]]:
    """Servers of two kinds, and jobs that take ``fullness`` of what they are allowed to use.

    A fifth of the jobs may use the first kind only, a fifth the second.
    """
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 2, rng.integers(2, 7))
    servers = Capacity(
        np.where(kinds, 4.0, 8.0), np.where(kinds, 32.0, 24.0), np.where(kinds, 250e9, 500e9)
    )
    num_jobs = rng.integers(3, 30)
    only = rng.choice([-1, 0, 1], num_jobs, p=[0.6, 0.2, 0.2])
    allowed = (only == -1) | (only == kinds[:, None]) | (kinds.min() == kinds.max())
    # From shares on all servers, so that the whole is known to fit where fullness is one.
    shares = rng.random(allowed.shape) * allowed
    use = rng.random((num_jobs, 3)) * rng.choice([0.2, 1.0], (num_jobs, 3))
    shares /= shares.sum(axis=0)
    room = servers.stacked()
    return use * fullness * (room / np.maximum(shares @ use, 1e-9)).min(axis=0), servers, allowed


def check(result: ServerMapping, demand: NDArray[np.float64], servers: Capacity) -> None:
    """Everything that a mapping promises, whatever the jobs."""
    fractions = result.fractions
    num_servers, num_jobs = fractions.shape
    assert (fractions >= 0).all()
    np.testing.assert_allclose(fractions.sum(axis=0), 1.0, rtol=1e-12)
    assert (fractions @ demand <= servers.stacked() * (1 + 1.01 * CAPACITY_TOLERANCE)).all()
    assert np.count_nonzero(fractions) <= num_jobs + 3 * num_servers
    np.testing.assert_array_equal(result.is_fragmented, (fractions > 0).sum(axis=0) > 1)
    assert result.fragmented == result.is_fragmented.sum() <= 3 * num_servers


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), fullness=st.sampled_from([0.5, 0.9, 1.0]))
def test_what_fits_is_mapped_with_few_fragmented(seed: int, fullness: float) -> None:
    demand, servers, allowed = random_jobs(seed, fullness)
    result = mapped(demand, servers, allowed)
    check(result, demand, servers)
    assert not result.fractions[~allowed].any()


@pytest.mark.parametrize("seed", range(30))
def test_infeasible_is_what_no_shares_satisfy(seed: int) -> None:
    demand, servers, allowed = random_jobs(seed, fullness=0.95 + 0.05 * (seed % 8))
    x = cp.Variable(allowed.shape, nonneg=True)
    room = servers.stacked()
    unit = room.max(axis=0)
    problem = cp.Problem(
        cp.Minimize(0),
        [cp.sum(x, axis=0) == 1, x @ (demand / unit) <= room / unit, x[~allowed] == 0],
    )
    problem.solve(solver=cp.CLARABEL)
    if problem.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
        with pytest.raises(InfeasibleError):
            mapped(demand, servers, allowed)
    else:
        check(mapped(demand, servers, allowed), demand, servers)


@pytest.mark.parametrize("seed", range(4))
def test_a_plan_of_the_first_programme_fits_on_the_servers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes = [random_class(rng, types=1, most_jobs=12) for _ in range(8)]
    num_servers = -(-sum(each.count * each.gpus for each in classes) // 8)
    gpus = np.array([8.0 * num_servers])
    plan = choose_configurations(
        classes, Capacity(gpus, gpus * CPUS_PER_GPU, gpus * MEMORY_PER_GPU)
    )
    demand, _, _ = jobs_of(classes, plan)
    check(mapped(demand, synergy_servers(num_servers)), demand, synergy_servers(num_servers))


def test_jobs_of_two_types_stay_on_servers_of_theirs() -> None:
    rng = np.random.default_rng(1)
    classes = [random_class(rng, types=2, most_jobs=6) for _ in range(6)]
    gpus = np.array([72.0, 16.0])
    plan = choose_configurations(
        classes, Capacity(gpus, gpus * CPUS_PER_GPU, gpus * MEMORY_PER_GPU)
    )
    demand, kinds, _ = jobs_of(classes, plan)
    assert set(kinds) == {0, 1}
    allowed = np.repeat([0, 1], [9, 2])[:, None] == kinds
    result = mapped(demand, synergy_servers(11), allowed)
    check(result, demand, synergy_servers(11))
    assert not result.fractions[~allowed].any()


def test_equal_shares_stay_whole() -> None:
    demand = np.tile([1.0, 3.0, 62.5e9], (128, 1))
    result = mapped(demand, synergy_servers(16))
    assert set(np.unique(result.fractions)) == {0.0, 1.0}
    assert (result.fragmented, result.fractional_gpus) == (0, 0)


def test_cpus_and_gpus_of_a_server_run_out_together() -> None:
    # On each server one job that wants 10 CPUs for its GPU, and seven that are content with 2.
    demand = np.array([[1, 10, 50e9]] * 8 + [[1, 2, 50e9]] * 56)
    result = mapped(demand, synergy_servers(8))
    assert result.fragmented == 0
    assert (result.fractions[:, :8].sum(axis=1) == 1).all()


def test_a_job_larger_than_a_server_is_on_two_with_whole_gpus() -> None:
    result = mapped(np.array([[16, 48, 1e12], [8, 24, 500e9]]), synergy_servers(3))
    assert result.is_fragmented.tolist() == [True, False]
    assert result.fractional_gpus == 0


def test_gpus_come_out_fractional_where_cpus_do_not_divide_by_them() -> None:
    # A job of 6 GPUs whose CPUs are those of more than one server; the paper has 3.3 and 2.7.
    demand = np.array([[6, 32, 100e9], [2, 16, 100e9]])
    result = mapped(demand, synergy_servers(2))
    check(result, demand, synergy_servers(2))
    assert result.fragmented >= 1
    assert result.fractional_gpus >= 1


def test_few_jobs_are_fragmented_on_servers_that_they_fill_exactly() -> None:
    fragmented = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        # Eight jobs for each server that use all its CPUs, a few of them most.
        parts = rng.dirichlet(np.full(8, 0.3), size=16)
        cpus = 1 + np.array([rng.multinomial(16, each) for each in parts]).ravel()
        demand = np.column_stack((np.ones(128), cpus, np.full(128, 10e9)))
        result = mapped(demand, synergy_servers(16))
        check(result, demand, synergy_servers(16))
        fragmented += result.fragmented
    # About 120 without an objective, 80 with the packing or with the second solution alone.
    assert fragmented <= 75


def test_no_jobs_are_mapped_to_nothing() -> None:
    result = mapped(np.zeros((0, 3)), synergy_servers(2))
    assert result.fractions.shape == (2, 0)
    assert result.fragmented == 0


def test_the_tolerance_of_a_plan_is_accepted_and_no_more() -> None:
    exact = np.array([[8, 24, 500e9], [4, 12, 250e9], [4, 12, 250e9]])
    check(mapped(exact * (1 + 2e-6), synergy_servers(2)), exact, synergy_servers(2))
    with pytest.raises(InfeasibleError, match="the jobs need"):
        mapped(exact * 1.001, synergy_servers(2))


class TestInfeasible:
    """The error says why."""

    @pytest.mark.parametrize(
        ("job", "message"),
        [
            ([17, 1, 1e9], "need 17 GPUs, the servers have 16"),
            ([1, 49, 1e9], "need 49 CPUs, the servers have 48"),
            ([1, 1, 2e12], r"need 2e\+12 bytes of memory, the servers have 1e\+12"),
        ],
    )
    def test_a_resource_is_short(self, job: list[float], message: str) -> None:
        with pytest.raises(InfeasibleError, match=message):
            mapped(np.array([job]), synergy_servers(2))

    def test_the_allowed_servers_are_too_few(self) -> None:
        allowed = np.array([[True, True, True], [False, False, True]])
        with pytest.raises(InfeasibleError, match="allowed on"):
            mapped(np.array([[5, 1, 1e9]] * 2 + [[1, 1, 1e9]]), synergy_servers(2), allowed)

    def test_a_job_is_allowed_nowhere(self) -> None:
        with pytest.raises(InfeasibleError, match="job 1 is allowed on no server"):
            mapped(np.ones((2, 3)), synergy_servers(1), np.array([[True, False]]))

    def test_a_mask_of_another_shape(self) -> None:
        with pytest.raises(ValueError, match="shape"):
            mapped(np.ones((2, 3)), synergy_servers(1), np.ones((2, 1), dtype=np.bool_))
