"""How far two traces are apart."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.traces.test_description import trace
from traces.distances import distance, trace_distances


def test_amounts_of_the_same_rank_are_compared() -> None:
    found = distance(np.array([1.0, 2.0, 3.0, 4.0]), np.array([14.0, 11.0, 12.0, 13.0]))
    assert found is not None
    assert (found.ks, found.ks_at, found.ks_first) == (1.0, 4.0, True)
    assert found.wasserstein == 10.0
    assert found.wasserstein_share == 10 / 12.5


def test_the_other_way_round_only_the_side_changes() -> None:
    one, other = np.array([1.0, 1.0, 2.0]), np.array([1.0, 5.0])
    there, back = distance(one, other), distance(other, one)
    assert there is not None
    assert back is not None
    assert there.ks == back.ks == pytest.approx(0.5)
    assert there.ks_at == back.ks_at == 2.0
    assert (there.ks_first, back.ks_first) == (True, False)
    assert there.wasserstein == pytest.approx(back.wasserstein)
    assert there.wasserstein_share == pytest.approx(back.wasserstein_share)


def test_equal_samples_are_not_apart() -> None:
    found = distance(np.zeros(3), np.zeros(2))
    assert found is not None
    assert (found.ks, found.wasserstein, found.wasserstein_share) == (0.0, 0.0, None)


@pytest.mark.filterwarnings("error")
def test_one_amount_is_enough_for_a_distance() -> None:
    found = distance(np.array([1.0]), np.array([3.0]))
    assert found is not None
    assert (found.ks, found.wasserstein) == (1.0, 2.0)


def test_what_one_trace_does_not_know_has_no_distance() -> None:
    one = trace(num_gpus=[1, 4])
    other = trace(num_gpus=[8], duration_s=[np.nan], iterations=[3.0])
    found = trace_distances(one.jobs, other.jobs)
    assert found.run_s is found.gap_s is None
    assert found.num_gpus is not None
    assert (found.num_gpus.ks, found.num_gpus.wasserstein) == (1.0, 5.5)
