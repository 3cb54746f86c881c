"""The genetic algorithm: who wins, what offspring are made of, and what the search ends with."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.pollux.placements import Problem
from harness.scheduling.pollux.search import POPULATION, Population, search
from harness.scheduling.pollux.variation import _tournaments, offspring
from tests.unit.harness.scheduling.pollux.random_problems import random_placements, random_problem
from tests.unit.harness.scheduling.pollux.test_placements import assert_valid, problem_of

seeds = st.integers(0, 10**6)


def searched(problem: Problem, seed: int = 1) -> Population:
    return search(problem, problem.held[np.newaxis], np.random.default_rng(seed))


def test_whoever_dominates_wins_and_else_whoever_has_more_room() -> None:
    rng = np.random.default_rng(1)
    crowding = np.array([0.0, 5.0])
    dominates = _tournaments(np.array([[0.0, 0.0], [0.0, 1.0]]), crowding, 20, rng)
    assert set(dominates.tolist()) == {0}
    neither = _tournaments(np.array([[0.0, 1.0], [1.0, 0.0]]), crowding, 20, rng)
    assert set(neither.tolist()) == {1}
    alike = _tournaments(np.zeros((2, 2)), np.full(2, np.inf), 100, rng)
    assert 20 < np.count_nonzero(alike) < 80
    alone = _tournaments(np.zeros((1, 2)), np.zeros(1), 3, rng)
    assert alone.tolist() == [0, 0, 0]


@given(seeds)
def test_offspring_are_valid_and_leave_their_parents_alone(seed: int) -> None:
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    parents = random_placements(problem, 7, rng)
    problem.repair(parents, rng)
    before = parents.copy()
    cost = -problem.values(parents)
    made = [
        offspring(
            parents,
            cost,
            np.ones(7),
            9,
            problem.held,
            problem.server_gpus,
            problem.most_gpus,
            np.random.default_rng(seed),
        )
        for _ in range(2)
    ]
    assert (made[0] == made[1]).all()
    assert (parents == before).all()
    assert len(made[0]) == 9
    for placement in made[0]:
        assert_valid(problem, placement)


@given(seeds)
@settings(max_examples=15)
def test_a_search_ends_with_valid_placements_that_differ_and_a_seed_repeats_it(seed: int) -> None:
    problem = random_problem(seed)
    found, again = searched(problem, seed), searched(problem, seed)
    assert (found.placements == again.placements).all()
    assert 1 <= len(found.placements) <= POPULATION
    assert len({each.tobytes() for each in found.placements}) == len(found.placements)
    for placement in found.placements:
        assert_valid(problem, placement)
    assert found.values == pytest.approx(problem.values(found.placements))
    held = problem.values(problem.held[np.newaxis])[0]
    assert found.values[found.best, 0] >= held[0] * (1 - 1e-12)


@given(seeds)
@settings(max_examples=15)
def test_no_placement_of_the_first_front_is_dominated(seed: int) -> None:
    found = searched(random_problem(seed))
    for own in found.values[found.front == 0]:
        no_worse = (found.values >= own).all(axis=1)
        better = (found.values > own).any(axis=1)
        assert not (no_worse & better).any()
    assert found.front[found.best] == 0


def test_two_jobs_share_two_servers_evenly() -> None:
    """On four GPUs of one server each; the fitness of anything else is lower."""
    found = searched(problem_of([[0, 0], [0, 0]], moved=1.0))
    best = found.placements[found.best]
    assert sorted(best.tolist()) == [[0, 4], [4, 0]]
    assert found.values[found.best, 0] == pytest.approx(1.001)


def test_a_job_stays_where_moving_costs_more_than_it_gains() -> None:
    """Three GPUs held; a fourth would give a third more, and the move takes half."""
    dear, cheap = (searched(problem_of([[3, 0]], most=4, moved=moved)) for moved in (0.5, 0.9))
    assert dear.placements[dear.best].tolist() == [[3, 0]]
    assert sorted(cheap.placements[cheap.best][0].tolist()) == [0, 4]


def test_where_there_are_few_placements_it_ends_with_all_of_them() -> None:
    """One job that may have one GPU of three servers, or none."""
    found = searched(problem_of([[0, 0, 0]], most=1, moved=1.0))
    assert len(found.placements) == 4
