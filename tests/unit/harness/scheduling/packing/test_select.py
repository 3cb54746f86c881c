"""Who runs: chosen by GPUs alone, in the policy's order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.packing.select import select_jobs, select_types

INF = np.inf
A, B = 0, 1
"""Two types of GPU."""


def chosen(num_gpus: list[int], order: list[int], free_gpus: int) -> list[int]:
    return select_jobs(np.array(num_gpus), np.array(order), free_gpus).tolist()


def chosen_types(
    num_gpus: list[int],
    iteration_s: list[list[float]],
    free_gpus: list[int],
    held_type: list[int] | None = None,
) -> dict[int, int]:
    """Position -> type, in the order of the positions."""
    held = [-1] * len(num_gpus) if held_type is None else held_type
    positions, types = select_types(
        np.array(num_gpus),
        np.array(iteration_s),
        np.array(held),
        np.arange(len(num_gpus)),
        np.array(free_gpus),
    )
    return dict(zip(positions.tolist(), types.tolist(), strict=True))


def test_the_first_jobs_whose_gpus_there_are() -> None:
    assert chosen([2, 2, 2, 2], [3, 1, 0, 2], 6) == [3, 1, 0]


def test_a_job_that_asks_for_too_many_is_passed_over() -> None:
    assert chosen([4, 8, 3, 1], [0, 1, 2, 3], 8) == [0, 2, 3]


def test_nobody_runs_without_gpus_or_jobs() -> None:
    assert chosen([1, 1], [0, 1], 0) == []
    assert select_jobs(np.array([1]), np.empty(0, dtype=np.int64), 4).tolist() == []


@given(
    sizes=st.lists(st.integers(1, 9), max_size=30), gpus=st.integers(0, 40), seed=st.integers(0, 99)
)
def test_whoever_waits_would_not_have_fitted_at_its_turn(
    sizes: list[int], gpus: int, seed: int
) -> None:
    order = np.random.default_rng(seed).permutation(len(sizes)).tolist()
    runs = chosen(sizes, order, gpus) if sizes else []
    left = gpus
    for position in order:
        fits = sizes[position] <= left
        assert (position in runs) == fits
        left -= sizes[position] if fits else 0


def test_each_job_takes_the_type_on_which_its_fair_share_is_fastest() -> None:
    assert chosen_types([1, 1], [[2.0, 1.0], [1.0, 2.0]], [4, 4]) == {0: B, 1: A}


def test_a_full_type_leaves_the_slower_one_and_none_leaves_the_job_waiting() -> None:
    faster_on_b = [[2.0, 1.0]] * 4
    assert chosen_types([2, 2, 2, 1], faster_on_b, [3, 2]) == {0: B, 1: A, 3: A}


def test_a_job_does_not_run_on_a_type_that_it_has_no_profile_for() -> None:
    assert chosen_types([1, 1], [[INF, 1.0]] * 2, [4, 1]) == {0: B}


@pytest.mark.parametrize(("held", "expected"), [(-1, A), (A, A), (B, B)])
def test_among_equally_fast_types_a_job_stays_on_its_own(held: int, expected: int) -> None:
    assert chosen_types([1], [[1.0, 1.0]], [1, 1], [held]) == {0: expected}


def test_a_faster_type_is_worth_a_change() -> None:
    assert chosen_types([1], [[1.0, 1.5]], [1, 1], [B]) == {0: A}
