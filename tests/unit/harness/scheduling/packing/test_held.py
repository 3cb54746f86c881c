"""What the chosen jobs held before, on the servers of one type."""

from __future__ import annotations

import numpy as np

from harness.scheduling.packing.held import held_rows
from tests.unit.harness.scheduling.packing.packing_cases import Place, places_of, rows_of

BEFORE = {2: {0: 1}, 3: {4: 2, 5: 1}, 7: {6: 4}}
"""Job -> its place."""


def held(jobs: list[int], first_server: int = 0, end_server: int = 10) -> list[Place]:
    before_jobs = np.array(list(BEFORE), dtype=np.int64)
    rows = rows_of(list(BEFORE.values()))
    return places_of(
        *held_rows(np.array(jobs, dtype=np.int64), before_jobs, *rows, first_server, end_server)
    )


def test_jobs_that_ran_and_jobs_that_did_not() -> None:
    assert held([1, 2, 3, 5, 7, 9]) == [{}, {0: 1}, {4: 2, 5: 1}, {}, {6: 4}, {}]


def test_jobs_that_run_no_more_are_left_out() -> None:
    assert held([3]) == [{4: 2, 5: 1}]
    assert held([]) == []


def test_servers_of_another_type_do_not_count_and_numbers_start_at_the_types_first() -> None:
    assert held([2, 3, 7], first_server=4, end_server=6) == [{}, {0: 2, 1: 1}, {}]
