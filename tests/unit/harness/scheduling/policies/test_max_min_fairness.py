"""Fractions of time against a general solver and by hand; the order that follows from them."""

from __future__ import annotations

from dataclasses import replace

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from harness.scheduling.policies import POLICIES
from harness.scheduling.policies.max_min_fairness import time_fractions
from harness.scheduling.waiting import ActiveJobs
from tests.unit.harness.scheduling.policies.orders import jobs_of, order_of
from tests.unit.harness.scheduling_builders import Kind, active_of

Floats = NDArray[np.float64]
ALL_GPUS = 16
EIGHT_GPUS = Kind(num_gpus=8)
SIXTEEN_GPUS = Kind(num_gpus=16)


class Programme:
    """A random instance: up to nine jobs, of which the largest may take all GPUs."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        jobs = int(rng.integers(1, 10))
        self.num_gpus = rng.choice([1, 2, 4, 8, 16], size=jobs)
        self.remaining_s = rng.uniform(10, 1000, jobs)
        done_s = rng.uniform(0, 1000, jobs)
        self.age_s = done_s * rng.uniform(0, 4, jobs)
        self.isolated_s = (self.remaining_s + done_s) * rng.uniform(1, 8, jobs)

    def fractions(self, all_gpus: int = ALL_GPUS) -> Floats:
        return time_fractions(
            self.age_s, self.remaining_s, self.isolated_s, self.num_gpus, all_gpus
        )

    def rho(self, fractions: Floats) -> Floats:
        """(jobs,): finish-time ratios."""
        return (self.age_s + self.remaining_s / fractions) / self.isolated_s

    def solved(self) -> float:
        """The smallest largest ratio, by a solver."""
        x = cvxpy.Variable(len(self.age_s))
        served_s = cvxpy.multiply(self.remaining_s, cvxpy.inv_pos(x))
        rho = cvxpy.multiply(self.age_s + served_s, 1 / self.isolated_s)
        programme = cvxpy.Problem(
            cvxpy.Minimize(cvxpy.max(rho)), [x <= 1, self.num_gpus @ x <= ALL_GPUS]
        )
        programme.solve(solver="CLARABEL")
        return float(programme.value)

    def centre(self, rho: float) -> Floats:
        """The analytic centre of all fractions with which no ratio exceeds ``rho``, by a solver."""
        least = self.remaining_s / (rho * self.isolated_s - self.age_s)
        free = least < 1 - 1e-9
        x = cvxpy.Variable(int(free.sum()))
        left_over = ALL_GPUS - self.num_gpus[~free].sum() - self.num_gpus[free] @ x
        logarithms = cvxpy.sum(cvxpy.log(x - least[free])) + cvxpy.sum(cvxpy.log(1 - x))
        programme = cvxpy.Problem(cvxpy.Maximize(logarithms + cvxpy.log(left_over)))
        programme.solve(solver="CLARABEL")
        found = np.ones(len(least))
        found[free] = x.value
        return found


@pytest.mark.parametrize("seed", range(30))
def test_no_solver_finds_a_smaller_largest_ratio(seed: int) -> None:
    programme = Programme(seed)
    fractions = programme.fractions()
    assert ((fractions > 0) & (fractions <= 1)).all()
    assert programme.num_gpus @ fractions <= ALL_GPUS * (1 + 1e-9)
    assert programme.rho(fractions).max() == pytest.approx(programme.solved(), rel=1e-5)


def test_what_is_left_over_is_shared_as_at_the_analytic_centre() -> None:
    compared = 0
    for seed in range(30):
        programme = Programme(seed)
        fractions = programme.fractions()
        if programme.num_gpus @ fractions < 0.99 * ALL_GPUS and (fractions < 0.99).any():
            centre = programme.centre(programme.rho(fractions).max())
            np.testing.assert_allclose(fractions, centre, atol=1e-4)
            compared += 1
    assert compared >= 3


def fractions_of(
    age_s: list[float],
    remaining_s: list[float],
    isolated_s: list[float],
    num_gpus: list[int],
    all_gpus: int = 8,
) -> list[float]:
    found = time_fractions(
        np.array(age_s), np.array(remaining_s), np.array(isolated_s), np.array(num_gpus), all_gpus
    )
    return found.tolist()


def test_jobs_that_are_alike_take_turns() -> None:
    assert fractions_of([0, 0], [100, 100], [200, 200], [8, 8]) == pytest.approx([0.5, 0.5])


def test_a_job_that_is_late_gets_more() -> None:
    """With rho 2 they need 100 / (400 - 250) and 100 / (400 - 100), which is all the time."""
    assert fractions_of([250, 100], [100, 100], [200, 200], [8, 8]) == pytest.approx([2 / 3, 1 / 3])


def test_a_job_alone_runs_all_the_time() -> None:
    assert fractions_of([50], [100], [100], [1]) == [1]


def test_the_others_share_what_the_worst_job_leaves() -> None:
    """The first can do no better than 2, with which the second needs a third of the time.

    Of many more GPUs it would get the middle between that and all the time; of 2 GPUs for both,
    1 / (x - 1/3) = 1 / (1 - x) + 1 / (1 - x), so that x is 1/3 + 2/9.
    """
    first, second = fractions_of([100, 0], [100, 100], [100, 150], [1, 1], all_gpus=10**6)
    assert (first, second) == pytest.approx((1, 2 / 3), abs=1e-5)
    assert fractions_of([100, 0], [100, 100], [100, 150], [1, 1], all_gpus=2) == pytest.approx(
        [1, 1 / 3 + 2 / 9]
    )


seeds = st.integers(0, 10**6)


@given(seeds, st.floats(0.01, 100))
@settings(max_examples=50, deadline=None)
def test_the_unit_of_time_does_not_matter(seed: int, factor: float) -> None:
    programme, other = Programme(seed), Programme(seed)
    other.age_s, other.remaining_s = programme.age_s * factor, programme.remaining_s * factor
    other.isolated_s = programme.isolated_s * factor
    np.testing.assert_allclose(other.fractions(), programme.fractions(), rtol=1e-6)


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_more_gpus_never_make_the_largest_ratio_larger(seed: int) -> None:
    programme = Programme(seed)
    few, many = programme.fractions(), programme.fractions(2 * ALL_GPUS)
    assert programme.rho(many).max() <= programme.rho(few).max() * (1 + 1e-9)


@given(seeds, st.floats(1, 1000))
@settings(max_examples=50, deadline=None)
def test_nobody_gets_less_for_having_waited_longer(seed: int, longer_s: float) -> None:
    """Where GPUs are short; where they are not, the centre moves with everybody's least."""
    programme, later = Programme(seed), Programme(seed)
    later.age_s = programme.age_s.copy()
    later.age_s[0] += longer_s
    before, after = programme.fractions(), later.fractions()
    if all(programme.num_gpus @ each > ALL_GPUS * (1 - 1e-6) for each in (before, after)):
        assert after[0] >= before[0] - 1e-9
        assert (after[1:] <= before[1:] + 1e-9).all()


def runs_until(active: ActiveJobs, now_s: float, done: dict[int, float]) -> None:
    """Of each of these jobs: it runs until ``now_s`` and has then done so many iterations."""
    for job, iterations in done.items():
        active.table.last_served_s[job] = now_s
        active.table.attained_s[job] = now_s
        active.table.done_iterations[job] = iterations


def later(active: ActiveJobs, now_s: float, jobs: list[int]) -> ActiveJobs:
    return active_of(active.table, active.demands, active.pool, now_s, jobs)


def test_the_first_order_is_by_fraction() -> None:
    """They are alike but for their ages: 100, 0 and 600 s."""
    active = jobs_of(
        *[SIXTEEN_GPUS] * 3, iterations=[200, 200, 200], submit_s=[500, 600, 0], now_s=600
    )
    assert order_of("themis-max-min", active) == [2, 0, 1]


def test_who_has_never_run_comes_before_who_has() -> None:
    policy = POLICIES["themis-max-min"]()
    both = jobs_of(*[SIXTEEN_GPUS] * 3, iterations=[1000, 1000, 10], submit_s=[0, 0, 100])
    assert order_of(policy, later(both, 0, [0, 1])) == [0, 1]
    runs_until(both, 100, {0: 100})
    assert order_of(policy, later(both, 100, [0, 1, 2]))[-1] == 0


def test_fractions_are_divided_by_launches_and_isolated_time_remembers_shares() -> None:
    """16 GPUs: two jobs of 16 have shares of 1/2, three of 1/3.

    100 of 1000 iterations in a share of 1/2 and 900 in one of 1/3 are 200 s + 2700 s.
    """
    policy = POLICIES["themis-max-min"]()
    jobs = jobs_of(*[SIXTEEN_GPUS] * 3, iterations=[1000, 500, 10], submit_s=[0, 0, 100])
    policy.key(later(jobs, 0, [0, 1]))
    runs_until(jobs, 100, {0: 100})
    fractions = time_fractions(
        np.array([100.0, 100.0, 0.0]),
        np.array([900.0, 500.0, 10.0]),
        np.array([200.0 + 2700, 1500.0, 30.0]),
        np.array([16, 16, 16]),
        16,
    )
    key = policy.key(later(jobs, 100, [0, 1, 2]))
    np.testing.assert_allclose(key, -fractions * [1, 1e9, 1e9])
    # The next decision is one launch more for who ran, however many rounds have passed.
    runs_until(jobs, 300, {0: 200, 2: 0})
    key = policy.key(later(jobs, 300, [0, 2]))
    shares_s = np.array([200.0 + 300 + 1600, 20.0])
    fractions = time_fractions(
        np.array([300.0, 200.0]), np.array([800.0, 10.0]), shares_s, np.array([16, 16]), 16
    )
    np.testing.assert_allclose(key, -fractions / [2, 1])


def test_between_arrivals_and_ends_the_order_stays() -> None:
    policy = POLICIES["themis-max-min"]()
    jobs = jobs_of(*[SIXTEEN_GPUS] * 3, iterations=[1000, 500, 300])
    before = policy.key(later(jobs, 0, [0, 1, 2])).tolist()
    runs_until(jobs, 100, {2: 100})
    assert policy.key(later(jobs, 100, [0, 1, 2])).tolist() == before
    assert policy.steady
    assert policy.key(later(jobs, 100, [0, 2])).tolist() != before


def test_muri_takes_isolated_time_in_iterations_and_shares_of_whole_gpus() -> None:
    """A third of 16 GPUs is 6 there: a job of 8 has a share of 3/4, a smaller one all."""
    kinds = (replace(EIGHT_GPUS, iteration_s=4.0), EIGHT_GPUS, Kind(num_gpus=4))
    jobs = jobs_of(*kinds, iterations=[100, 100, 100])
    fractions = time_fractions(
        np.zeros(3), np.array([400.0, 100.0, 100.0]), np.array([400 / 3, 400 / 3, 100.0]),
        np.array([8, 8, 4]), 16,
    )  # fmt: skip
    np.testing.assert_allclose(POLICIES["themis-muri"]().key(jobs), -1e9 * fractions)


def test_only_muri_cares_how_long_an_iteration_is() -> None:
    """The same work in a fourth as many iterations, each four times as long."""
    many = [EIGHT_GPUS, EIGHT_GPUS, EIGHT_GPUS]
    few = [replace(EIGHT_GPUS, iteration_s=4.0), EIGHT_GPUS, EIGHT_GPUS]
    keys = {
        name: [
            POLICIES[name]().key(jobs_of(*kinds, iterations=[iterations, 300, 300], now_s=50))
            for kinds, iterations in ((many, 400), (few, 100))
        ]
        for name in ("themis-max-min", "themis-muri")
    }
    np.testing.assert_allclose(*keys["themis-max-min"])
    first, second = keys["themis-muri"]
    assert second[0] < first[0]
    assert (second[1:] > first[1:]).all()


@pytest.mark.parametrize("name", ["themis-max-min", "themis-muri"])
def test_each_run_remembers_only_its_own_launches(name: str) -> None:
    jobs = jobs_of(*[SIXTEEN_GPUS] * 2, iterations=[100, 200])
    first, second = POLICIES[name](), POLICIES[name]()
    for number, running in enumerate(([0], [0, 1])):
        first.key(later(jobs, 10.0 * number, running))
        runs_until(jobs, 10.0 * number + 10, {0: 0})
    last = later(jobs, 20, [0])
    assert first.key(last).tolist() == [-1 / 2]
    assert second.key(last).tolist() == [-1]
