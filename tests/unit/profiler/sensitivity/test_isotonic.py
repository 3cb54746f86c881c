"""A repaired table rises, and no other one does with a smaller change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from profiler.sensitivity.isotonic import Floats, risen

TABLES = arrays(np.float64, array_shapes(max_dims=2, max_side=6), elements=st.floats(1e-3, 1e3))


@given(TABLES)
def test_it_falls_along_no_axis(values: Floats) -> None:
    for axis in range(values.ndim):
        assert np.all(np.diff(risen(values).values, axis=axis) >= 0)


@given(TABLES)
def test_the_largest_change_is_half_of_the_largest_fall(values: Floats) -> None:
    """A rising table has to bring both ends of a fall together, and each half is the least."""
    fall = 1.0
    places = list(np.ndindex(values.shape))
    for one in places:
        for other in places:
            if all(a <= b for a, b in zip(one, other, strict=True)):
                fall = max(fall, float(values[one] / values[other]))
    change = np.abs(np.log(risen(values).values / values)).max()
    assert change == pytest.approx(np.log(fall) / 2, abs=1e-9)


@given(TABLES)
def test_what_rises_stays_exactly_as_it_is(values: Floats) -> None:
    for axis in range(values.ndim):
        values = np.sort(values, axis=axis)
    repair = risen(values)
    assert np.array_equal(repair.values, values)
    assert (repair.changed, repair.most) == (0, 0.0)


def test_it_says_what_it_changed() -> None:
    repair = risen(np.array([1.0, 2.0, 1.62, 3.0]))
    assert repair.values == pytest.approx([1.0, 1.8, 1.8, 3.0])
    assert repair.changed == 2
    assert repair.most == pytest.approx(1.8 / 1.62 - 1)
