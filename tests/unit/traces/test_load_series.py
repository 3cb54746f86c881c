"""Bytes over time, as they were counted and on even intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.load_series import LoadSeries, even_load


def series(lengths_s: list[float], sent: list[float]) -> LoadSeries:
    return LoadSeries(np.append(0.0, np.cumsum(lengths_s)), np.array(sent))


def test_uneven_intervals_become_even_ones() -> None:
    load = even_load(series([1.0, 2.0, 1.0, 1.0], [3.0, 8.0, np.nan, 5.0]))
    assert load.interval_s == 1.0
    assert load.rate_bytes_per_s.tolist() == [3.0, 4.0, 4.0, 0.0, 5.0]
    assert load.observed.tolist() == [1.0, 1.0, 1.0, 0.0, 1.0]


def test_a_rate_is_that_of_the_part_that_was_sampled() -> None:
    load = even_load(series([1.0, 0.5, 1.5], [2.0, np.nan, 6.0]))
    assert load.rate_bytes_per_s.tolist() == [2.0, 4.0, 4.0]
    assert load.observed.tolist() == [1.0, 0.5, 1.0]
    coarse = load.coarser(2)
    assert coarse.rate_bytes_per_s.tolist() == [pytest.approx(4 / 1.5)]
    assert (coarse.observed.tolist(), coarse.interval_s) == ([0.75], 2.0)


@given(
    st.lists(
        st.tuples(st.floats(0.5, 2.0), st.floats(0, 1e9) | st.just(float("nan"))),
        min_size=1,
        max_size=40,
    )
)
def test_no_byte_is_lost_or_added(intervals: list[tuple[float, float]]) -> None:
    """Up to the end of the last even interval, which may be earlier or later."""
    given_series = series(*map(list, zip(*intervals, strict=True)))
    load = even_load(given_series)
    end_s = load.start_s + len(load) * load.interval_s
    until = np.append(0.0, np.cumsum(np.nan_to_num(given_series.sent_bytes)))
    expected = float(np.interp(end_s, given_series.edges_s, until))
    sent = float((load.rate_bytes_per_s * load.observed).sum()) * load.interval_s
    assert sent == pytest.approx(expected, rel=1e-6, abs=1e-3)


def test_a_part_is_of_whole_intervals() -> None:
    whole = LoadSeries(np.arange(6.0), np.arange(5.0), np.arange(5.0) * 10)
    part = whole.between(0.5, 4.2)
    assert part.edges_s.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert part.sent_bytes.tolist() == [1.0, 2.0, 3.0]
    assert part.received_bytes is not None
    assert part.received_bytes.tolist() == [10.0, 20.0, 30.0]
    with pytest.raises(ValueError, match="one interval or more"):
        whole.between(0.2, 0.8)


@pytest.mark.parametrize(
    ("edges_s", "sent", "problem"),
    [
        ([0.0], [], "one interval or more"),
        ([0.0, 0.0], [1.0], "ascending"),
        ([0.0, np.inf], [1.0], "finite"),
        ([0.0, 1.0], [1.0, 2.0], "must be as many"),
        ([0.0, 1.0], [-1.0], "zero or more"),
        ([0.0, 1.0], [np.inf], "finite and zero"),
    ],
)
def test_other_shapes_and_values_are_refused(
    edges_s: list[float], sent: list[float], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        LoadSeries(np.array(edges_s), np.array(sent))


def test_too_many_even_intervals_are_refused() -> None:
    edges_s = np.append(np.arange(9) * 1e-6, 10.0)
    with pytest.raises(ValueError, match="intervals of 1e-06 s"):
        even_load(LoadSeries(edges_s, np.ones(9)))
