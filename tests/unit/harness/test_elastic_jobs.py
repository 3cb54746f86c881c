"""Jobs whose number of workers changes: no work is lost, and none is done twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.harness.placed_builders import elastic, placed_arm, scheduler_spec
from tests.unit.harness.test_placed_cluster import Scheduled

SERVERS = ("server0", "server0", "server1", "server1", "server2", "server2")


def scheduled(workers: int, iterations: int) -> Scheduled:
    """One job that asks for ``workers`` and may have up to six; an iteration takes 2 s."""
    spec = scheduler_spec(round="10 s", restart="1 s")
    return Scheduled(placed_arm((elastic("one", workers, iterations=iterations),), scheduler=spec))


def run(found: Scheduled, workers: Sequence[int]) -> None:
    """One round with each of ``workers``; 0 for a round without."""
    for count in workers:
        found.round({"one": SERVERS[:count]} if count else {})


def test_more_workers_take_fewer_iterations() -> None:
    """18 batches of a GPU: 4 x 2 in the first round, of which 10 are left for 3 x 4."""
    found = scheduled(workers=2, iterations=9)
    run(found, [2])
    assert found.table.done_iterations[0] == 4.0
    told = found.round({"one": SERVERS[:4]})
    assert told == [
        ("end", "one"),
        ("start", "one", SERVERS[:4], 11.0, 3, None),
        ("end", "one"),
    ]
    assert found.table.done_iterations[0] == 9.0
    assert found.table.finish_s[0] == 17.0
    stints = [(s.first_iteration, len(s.spans), len(s.servers)) for s in found.cluster.stints]
    assert stints == [(0, 4, 2), (4, 3, 4)]


def test_iterations_of_the_table_may_be_broken() -> None:
    """Of three workers' iterations, four of two are 2.67."""
    found = scheduled(workers=3, iterations=6)
    run(found, [2])
    assert found.table.done_iterations[0] == pytest.approx(8 / 3)
    assert found.round({"one": SERVERS[:1]})[1] == ("start", "one", SERVERS[:1], 11.0, 10, None)


@given(
    asked_for=st.integers(1, 6),
    iterations=st.integers(1, 40),
    counts=st.lists(st.integers(0, 6), max_size=8),
)
def test_no_batch_is_lost_or_done_twice(asked_for: int, iterations: int, counts: list[int]) -> None:
    found = scheduled(asked_for, iterations)
    left = iterations * asked_for
    for count in counts:
        run(found, [count])
        if not np.isnan(found.table.finish_s[0]):
            break
    else:
        found.cluster.end_all()
    numbers = []
    for stint in found.cluster.stints:
        assert left > 0, "it goes on after its end"
        numbers += [stint.first_iteration + number for number in range(len(stint.spans))]
        left -= len(stint.spans) * len(stint.servers)
    last = len(found.cluster.stints[-1].servers) if found.cluster.stints else 1
    assert numbers == list(range(len(numbers)))
    assert left > -last, "only the last iteration may be of more than is left"
    assert np.isnan(found.table.finish_s[0]) == (left > 0)
    done = found.table.done_iterations[0] * asked_for
    assert done == pytest.approx(iterations * asked_for - max(left, 0))
