"""The steps of the fit, each for itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.demand_fit import alignment, iterations
from profiler.demand_fit.levels import constant_levels
from profiler.demand_fit.outliers import Unlike, change_of_pattern, unlike
from profiler.demand_fit.period import autocorrelation, candidate_periods
from traces.load_series import EvenLoad


def load_of(rates: np.ndarray, observed: np.ndarray | None = None) -> EvenLoad:
    seen = np.ones(len(rates)) if observed is None else observed
    return EvenLoad(0.0, 1.0, rates * (seen > 0), seen)


def test_gaps_do_not_change_the_autocorrelation_of_a_square_wave() -> None:
    wave = np.tile(np.repeat([0.0, 1.0], 20), 30)
    seen = (np.random.default_rng(1).random(len(wave)) > 0.3).astype(float)
    correlation = autocorrelation(load_of(wave, seen))
    assert correlation[[0, 20, 40, 80]] == pytest.approx([1, -1, 1, 1], abs=0.1)
    assert candidate_periods(load_of(wave, seen))[0] == [40]


@given(st.integers(0, 59))
def test_levels_are_found_wherever_the_circle_is_cut(turned: int) -> None:
    curve = np.roll(np.repeat([0.0, 1.0, 0.3, 0.0, 0.7], [20, 9, 8, 12, 11]), turned)
    levels = constant_levels(curve)
    expected = (np.array([0, 20, 29, 37, 49]) + turned) % 60
    order = np.argsort(expected)
    assert levels.starts.tolist() == expected[order].tolist()
    assert levels.values == pytest.approx(np.array([0.0, 1.0, 0.3, 0.0, 0.7])[order])
    assert levels.lengths.tolist() == np.array([20, 9, 8, 12, 11])[order].tolist()


def test_noise_and_blurred_edges_make_no_levels() -> None:
    noise = np.random.default_rng(2).normal(0, 0.02, 60)
    curve = np.repeat([0.0, 1.0], 30) + noise
    curve[[29, 30]] = [0.3, 0.7]
    levels = constant_levels(curve)
    assert len(levels.values) == 2
    assert levels.values == pytest.approx([0.0, 1.0], abs=0.05)


def test_a_path_follows_pauses_and_hurry() -> None:
    template = np.repeat([0.0, 1.0], [12, 8])
    turns = [np.repeat([0.0, 1.0], [pause, 8]) for pause in (12, 30, 8, 12, 12)]
    rate = np.concatenate(turns)
    found = alignment.align(load_of(rate), template, rounds=1)
    turn, cell = np.divmod(found.position, 20)
    assert (np.diff(found.position) >= 0).all()
    assert ((cell >= 12) == (rate == 1)).all()
    assert np.unique(turn[rate == 1]).tolist() == list(range(5))


def test_blocks_of_a_long_path_fit_together() -> None:
    """As if it were one block, of more than 256 turns."""
    template = np.repeat([0.0, 1.0, 0.0, 0.6], [5, 3, 4, 4])
    rate = np.tile(template, 600)
    found = alignment.align(load_of(rate), template, rounds=1)
    assert found.position.tolist() == list(range(len(rate)))
    assert found.cost == 0


def test_machine_code_finds_the_same_path_and_edges() -> None:
    random = np.random.default_rng(3)
    template = np.repeat([0.0, 1.0, 0.2], [6, 4, 5])
    rate = np.tile(template, 4) + random.normal(0, 0.1, 60)
    path: tuple[Any, ...] = (rate, np.ones(60), template, -1, 0.005, 0.02, 0.5)
    compiled, plain = alignment._block_path, alignment._block_path.py_func  # type: ignore[attr-defined]
    for fast, slow in zip(compiled(*path), plain(*path), strict=True):
        assert fast == pytest.approx(slow)
    first = np.arange(2, 50, 6)
    edges = (rate, np.ones(60), first, first + 8, np.tile([0.0, 1.0], 4), np.tile([1.0, 0.0], 4))
    fast_edges = iterations._least_squares_edges(*edges)
    slow_edges = iterations._least_squares_edges.py_func(*edges)  # type: ignore[attr-defined]
    assert fast_edges.tolist() == slow_edges.tolist()


@given(st.lists(st.integers(0, 3), min_size=4, max_size=30), st.integers(0, 1000))
def test_edges_are_those_of_least_squares(levels: list[int], seed: int) -> None:
    """Against every pair of edges."""
    rate = np.array(levels, dtype=float) + np.random.default_rng(seed).normal(0, 0.3, len(levels))
    count = len(rate)
    left, right = np.array([0.0, 2.0]), np.array([2.0, 1.0])
    found = iterations._least_squares_edges(
        rate, np.ones(count), np.zeros(2, int), np.full(2, count), left, right
    )

    def squares(first: int, second: int) -> float:
        model = np.concatenate(
            [np.zeros(first), np.full(second - first, 2.0), np.ones(count - second)]
        )
        return float(((rate - model) ** 2).sum())

    least = min(squares(a, b) for a in range(count + 1) for b in range(a, count + 1))
    assert squares(*found.tolist()) == pytest.approx(least)


def test_an_iteration_is_an_outlier_for_one_reason() -> None:
    lengths_s, sent, off = np.full(20, 1.0), np.full(20, 9.0), np.full(20, 0.02)
    lengths_s[3], sent[5], lengths_s[7], sent[9], off[11] = 1.4, 12.0, 0.7, 6.0, 0.4
    reasons = unlike(lengths_s, sent, off)
    assert {index: reason for index, reason in enumerate(reasons) if reason is not None} == {
        3: Unlike.LONGER,
        5: Unlike.MORE_BYTES,
        7: Unlike.SHORTER,
        9: Unlike.FEWER_BYTES,
        11: Unlike.OTHER_PATTERN,
    }


def test_usual_jitter_makes_no_outlier() -> None:
    lengths_s = np.random.default_rng(4).uniform(0.9, 1.1, 200)
    assert unlike(lengths_s, np.full(200, 1.0), np.full(200, 0.0)) == [None] * 200


@pytest.mark.parametrize("changed", range(3))
def test_a_step_is_a_change_and_a_drift_is_none(changed: int) -> None:
    noise = np.random.default_rng(5).normal(0, 0.01, (3, 60))
    usual = [1 + noise[0], 1 + noise[1], 0.05 + np.abs(noise[2])]
    assert change_of_pattern(*usual) is None
    stepped, drifting = list(usual), list(usual)
    stepped[changed] = usual[changed] + np.repeat([0.0, 0.3], [35, 25])
    drifting[changed] = usual[changed] + np.linspace(0.0, 0.3, 60)
    found = change_of_pattern(*stepped)
    assert found is not None
    assert abs(found - 35) <= 2
    assert change_of_pattern(*drifting) is None
