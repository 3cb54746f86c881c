"""Sizes of caches."""

from __future__ import annotations

import pytest

from profiler.measuring.memory_points import cache_sizes
from traces.errors import BadInputError


def test_shares_become_sizes() -> None:
    assert cache_sizes(1000, (0.0, 0.5, 1.0), 10_000) == (0, 500, 1000)


def test_by_default_they_are_quarters_of_what_fits() -> None:
    assert cache_sizes(1000, None, 10_000) == (0, 250, 500, 750, 1000)
    assert cache_sizes(1000, None, 1000) == (0, 150, 300, 450, 600)


def test_a_cache_that_does_not_fit_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"--memory: 80% of the dataset.* up to 50%"):
        cache_sizes(1_000_000, (0.2, 0.8), 500_000)


def test_two_shares_that_are_the_same_size_are_refused() -> None:
    with pytest.raises(BadInputError, match="the same size"):
        cache_sizes(10, (0.01, 0.02), 500)
