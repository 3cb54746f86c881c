"""An epoch that goes on with another loader gives each batch once."""

from __future__ import annotations

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from profiler.loading.index_batches import IndexBatches


@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6),
)
def test_each_batch_comes_once_however_often_the_loader_changes(
    count: int, first: int, changes: list[tuple[int, int]]
) -> None:
    """changes: how many batches the loop gets, and how many more the loader has asked for."""
    order = IndexBatches(range(count))
    order.begin(first)
    got = []
    for wanted, ahead in (*changes, (count, 0)):
        asked = list(islice(order, wanted + ahead))
        for batch in asked[:wanted]:
            order.delivered()
            got.append(batch)
    assert got == list(range(count))[first:]


def test_a_new_epoch_forgets_what_the_last_one_had_left() -> None:
    order = IndexBatches("abc")
    order.begin(0)
    assert list(islice(order, 2)) == ["a", "b"]
    order.begin(1)
    assert list(order) == ["b", "c"]
