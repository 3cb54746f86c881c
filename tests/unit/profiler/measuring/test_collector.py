"""When a point has enough iterations."""

from __future__ import annotations

import numpy as np

from profiler.measuring.collector import Collector
from profiler.sensitivity.precision import Precision


def records(seconds: np.ndarray) -> list[list[float]]:
    return [[0.0, 0.0, value, value] for value in seconds.tolist()]


def test_it_is_done_once_times_are_steady_and_precise() -> None:
    collector = Collector(Precision(budget_s=100), period=2)
    random = np.random.default_rng(1)
    collector.add(records(np.linspace(2.0, 0.2, 30)))  # warm-up
    steady = 0
    while not collector.is_done(spent_s=1):
        collector.add(records(random.normal(0.1, 0.001, 20)))
        steady += 20
        assert steady < 1000
    assert 28 <= collector.warmup <= 30
    assert collector.is_precise
    assert collector.estimate is not None
    assert abs(collector.estimate.iteration_s - 0.1) < 0.001


def test_a_spent_budget_ends_a_point_that_never_becomes_steady() -> None:
    collector = Collector(Precision(budget_s=5), period=1)
    assert not collector.is_done(spent_s=6)  # nothing came yet: there is nothing to keep
    collector.add(records(np.linspace(0.1, 1.0, 40)))
    assert not collector.is_done(spent_s=1)
    assert collector.is_done(spent_s=5)
    assert collector.steady_from is None
    assert collector.warmup == 20
    assert not collector.is_precise


def test_records_are_kept_in_their_order() -> None:
    collector = Collector(Precision(budget_s=5), period=1)
    collector.add([[1, 2, 3, 6], [1, 1, 1, 3]])
    collector.add([])
    collector.add([[0, 0, 1, 1]])
    assert collector.records.tolist() == [[1, 2, 3, 6], [1, 1, 1, 3], [0, 0, 1, 1]]
