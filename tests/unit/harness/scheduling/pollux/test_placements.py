"""What a placement is worth, by hand and over whole arrays, and how an invalid one is repaired."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.job_table import Floats
from harness.scheduling.pollux.placements import MOST_SERVERS, Placements, Problem
from tests.unit.harness.scheduling.pollux.random_problems import random_placements, random_problem

seeds = st.integers(0, 10**6)


def problem_of(
    held: list[list[int]], *, gpus: int = 4, most: int = 8, moved: float = 0.5
) -> Problem:
    """Speedup 1 for each GPU, and three quarters of it on several servers."""
    jobs, servers = np.shape(held)
    line = np.arange(most + 1.0)
    return Problem(
        server_gpus=np.full(servers, gpus),
        held=np.array(held, dtype=np.int16),
        speedup=np.stack([np.stack([line, 0.75 * line])] * jobs),
        moved=np.full(jobs, moved),
        most_gpus=np.full(jobs, most),
    )


def repaired(problem: Problem, placement: list[list[int]], seed: int = 1) -> list[list[int]]:
    placements = np.array([placement], dtype=np.int16)
    problem.repair(placements, np.random.default_rng(seed))
    return placements[0].tolist()


def test_values_by_hand() -> None:
    """Two servers of 4: the first stays on 2 GPUs of one, the second moves to 4 of both."""
    problem = problem_of([[2, 0], [0, 0]])
    ((fitness, utility),) = problem.values(np.array([[[2, 0], [2, 2]]], dtype=np.int16))
    parts = 2 / 4 + 1e-3, 0.75 * 4 / 4 * 0.5 + 1e-3
    assert fitness == pytest.approx(2 / (1 / parts[0] + 1 / parts[1]))
    assert utility == pytest.approx((2 + 0.75 * 4) / 8)


def test_a_job_without_gpus_leaves_the_mean_above_zero_and_servers_without_jobs_do_not_count() -> (
    None
):
    problem = problem_of([[0, 0], [0, 0]], moved=1.0)
    values = problem.values(np.array([[[4, 0], [0, 0]], [[0, 0], [0, 0]]], dtype=np.int16))
    assert values[0].tolist() == pytest.approx([2 / (1 / 1.001 + 1 / 1e-3), 4 / 4])
    assert values[1].tolist() == pytest.approx([1e-3, 0.0])


def test_of_the_jobs_that_span_servers_only_the_first_stays_on_one() -> None:
    problem = problem_of([[0, 0, 0]] * 3)
    jobs = [[1, 1, 0], [0, 1, 1], [1, 0, 0]]
    assert repaired(problem, jobs) == [[1, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_gpus_of_a_server_go_to_the_first_jobs() -> None:
    problem = problem_of([[0]] * 3)
    assert repaired(problem, [[3], [2], [1]]) == [[3], [1], [0]]


def test_what_is_above_the_most_goes_from_a_server_that_is_drawn() -> None:
    problem = problem_of([[0, 0]], most=6)
    seen = {str(repaired(problem, [[4, 4]], seed)) for seed in range(40)}
    assert seen == {"[[4, 2]]", "[[2, 4]]"}


def test_a_job_is_on_sixteen_servers_at_most() -> None:
    problem = problem_of([[0] * 20], most=64)
    (row,) = repaired(problem, [[1] * 20])
    assert sum(row) == np.count_nonzero(row) == MOST_SERVERS == 16


@given(seeds)
def test_a_repaired_placement_is_valid_and_only_has_less(seed: int) -> None:
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    before = random_placements(problem, 10, rng)
    after = before.copy()
    problem.repair(after, rng)
    assert (after <= before).all()
    for placement in after:
        assert_valid(problem, placement)
    again = after.copy()
    problem.repair(again, rng)
    assert (again == after).all()


@given(seeds)
def test_values_are_those_of_the_equations_over_arrays(seed: int) -> None:
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    placements = random_placements(problem, 10, rng)
    problem.repair(placements, rng)
    assert problem.values(placements) == pytest.approx(values_over_arrays(problem, placements))


def assert_valid(problem: Problem, placement: Placements) -> None:
    assert (placement >= 0).all()
    assert (placement.sum(axis=0) <= problem.server_gpus).all()
    assert (placement.sum(axis=1) <= problem.most_gpus).all()
    spans = np.count_nonzero(placement, axis=1) > 1
    assert (np.count_nonzero(placement[spans], axis=0) <= 1).all()
    assert (np.count_nonzero(placement, axis=1) <= MOST_SERVERS).all()


def values_over_arrays(problem: Problem, placements: Placements) -> Floats:
    gpus, on = placements.sum(axis=2), np.count_nonzero(placements, axis=2)
    jobs = np.arange(placements.shape[1])
    faster = problem.speedup[jobs, (on > 1).astype(int), gpus]
    scaled = faster * len(problem.server_gpus) / problem.server_gpus.sum()
    moved = (placements != problem.held).any(axis=2)
    scaled = scaled * np.where(moved, problem.moved, 1.0)
    fitness = 1 / (1 / (scaled + 1e-3)).mean(axis=1)
    in_use = (placements.any(axis=1) * problem.server_gpus).sum(axis=1)
    utility = np.where(in_use, faster.sum(axis=1) / np.maximum(in_use, 1), 0.0)
    return np.column_stack((fitness, utility))
