"""Placements that Pollux holds equal: of its last generation, and with servers exchanged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.pollux.candidates import held_equal, is_held_equal
from harness.scheduling.pollux.placements import Placements, Problem
from harness.scheduling.pollux.search import Population, search
from tests.unit.harness.scheduling.pollux.random_problems import random_problem
from tests.unit.harness.scheduling.pollux.test_placements import assert_valid, problem_of


def population_of(problem: Problem, *placements: list[list[int]]) -> Population:
    there = np.array(placements, dtype=np.int16)
    return Population(
        there, problem.values(there), np.zeros(len(there), np.int64), np.zeros(len(there))
    )


def candidates(
    problem: Problem, population: Population, most: int, tolerance: float, seed: int = 1
) -> Placements:
    return held_equal(problem, population, most, tolerance, np.random.default_rng(seed))


def test_within_the_tolerance_the_best_comes_first() -> None:
    """One job on servers of other sizes, so that none can be exchanged: 3, 4 and 2 GPUs."""
    problem = problem_of([[0, 0, 0]], moved=1.0)
    problem.server_gpus[:] = 3, 4, 2
    population = population_of(problem, [[3, 0, 0]], [[0, 4, 0]], [[0, 0, 2]])
    for tolerance, expected in ((0.0, [4]), (0.3, [4, 3]), (0.6, [4, 3, 2])):
        found = candidates(problem, population, 10, tolerance)
        assert found.sum(axis=(1, 2)).tolist() == expected
    assert candidates(problem, population, 2, 0.6).sum(axis=(1, 2)).tolist() == [4, 3]


def test_servers_that_are_alike_may_be_exchanged_where_nobody_holds_them() -> None:
    """Two jobs that come at once, on two of three servers: six ways, and no more."""
    problem = problem_of([[0, 0, 0], [0, 0, 0]], moved=0.5)
    best = [[4, 0, 0], [0, 4, 0]]
    found = candidates(problem, population_of(problem, best), 10, 0.0)
    assert found[0].tolist() == best
    assert len({each.tobytes() for each in found}) == len(found) == 6
    assert (found.sum(axis=2) == 4).all()


def test_whoever_stays_is_moved_only_within_the_tolerance() -> None:
    """The first job holds its server, and a restart would cost it a tenth."""
    held = [[4, 0, 0], [0, 0, 0]]
    problem = problem_of(held, moved=0.9)
    population = population_of(problem, [[4, 0, 0], [0, 4, 0]])
    strict = candidates(problem, population, 10, 0.0)
    assert len(strict) == 2
    assert (strict[:, 0] == [4, 0, 0]).all()
    assert len(candidates(problem, population, 10, 0.1)) == 6


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.02, 0.2]))
@settings(max_examples=15)
def test_they_are_valid_and_different_and_a_seed_repeats_them(seed: int, tolerance: float) -> None:
    problem = random_problem(seed)
    population = search(problem, problem.held[np.newaxis], np.random.default_rng(seed))
    found = candidates(problem, population, 8, tolerance, seed)
    assert (found == candidates(problem, population, 8, tolerance, seed)).all()
    assert 1 <= len(found) == len({each.tobytes() for each in found}) <= 8
    assert (found[0] == population.placements[population.best]).all()
    fitness = problem.values(found)[:, 0]
    assert (fitness >= (1 - tolerance) * fitness[0] * (1 - 1e-12)).all()
    for placement in found:
        assert_valid(problem, placement)
    assert fitness[1:] == pytest.approx(np.sort(fitness[1:])[::-1])


def test_a_placement_from_elsewhere_is_held_to_the_same() -> None:
    """Two jobs that come at once on three servers with four GPUs each."""
    problem = problem_of([[0, 0, 0], [0, 0, 0]], moved=0.5)
    population = population_of(problem, [[4, 0, 0], [0, 4, 0]])

    def is_equal(*rows: list[int], tolerance: float = 0.0) -> bool:
        placement = np.array(rows, dtype=np.int16)
        return is_held_equal(problem, population, placement, tolerance)

    assert is_equal([0, 0, 4], [4, 0, 0])
    assert not is_equal([0, 0, 3], [4, 0, 0])
    assert is_equal([0, 0, 3], [4, 0, 0], tolerance=0.3)
    assert not is_equal([4, 0, 0], [4, 0, 0], tolerance=1.0), "more GPUs than there are"
    assert not is_equal([2, 2, 0], [0, 2, 2], tolerance=1.0), "two that span servers meet on one"
