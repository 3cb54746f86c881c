"""Leases by hand: extended, ended, counted, and written down with what they held."""

from __future__ import annotations

import numpy as np
import pytest

from harness.leases import Leases
from harness.scheduling.allocation import Allocation
from tests.unit.harness.scheduling.packing.packing_cases import Place
from tests.unit.harness.scheduling_builders import (
    Kind,
    Lease,
    LeaseLog,
    allocation_of,
    demands_of,
    pool_of,
    table_of,
)

ALONE: Place = {0: 1}


class Ledger:
    """Leases of four jobs, and the log of those that ended."""

    def __init__(self) -> None:
        self.table = table_of(demands_of(pool_of(2, 4), Kind()), iterations=[1] * 4)
        self.log = LeaseLog()
        self.leases = Leases(self.table, self.log)

    def renew(self, now_s: float, places: dict[int, Place], cpus: float = 3.0) -> list[int]:
        """Jobs whose leases are new."""
        allocation = allocation_of(places, share=(cpus, 60e9, 0.0))
        return allocation.jobs[self.leases.renew(allocation, now_s)].tolist()


def test_a_lease_is_new_once_and_then_extended() -> None:
    ledger = Ledger()
    assert ledger.renew(0, {0: ALONE, 2: {0: 2, 1: 1}}) == [0, 2]
    assert ledger.renew(100, {0: ALONE, 1: {1: 1}, 2: {0: 2, 1: 1}}) == [1]
    assert ledger.renew(200, {0: ALONE, 1: {1: 1}, 2: {0: 2, 1: 1}}) == []
    assert ledger.table.leases.tolist() == [1, 1, 1, 0]
    assert ledger.log.rows == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({0: 3}, {1: 3}),
        ({0: 3}, {0: 2, 1: 1}),
        ({0: 2, 1: 1}, {0: 3}),
        ({0: 2, 1: 1}, {0: 1, 1: 2}),
        ({0: 1, 1: 2}, {0: 1, 2: 2}),
    ],
)
def test_a_job_that_is_moved_has_a_new_lease(before: Place, after: Place) -> None:
    ledger = Ledger()
    ledger.renew(0, {1: before})
    assert ledger.renew(100, {1: after}) == [1]
    assert ledger.table.leases.tolist() == [0, 2, 0, 0]
    assert ledger.log.spans() == [(1, server, 0, 100) for server in before]


@pytest.mark.parametrize("resource", [0, 1, 2])
def test_so_has_one_whose_share_changes(resource: int) -> None:
    ledger = Ledger()
    ledger.renew(0, {0: ALONE})
    share = [3.0, 60e9, 0.0]
    share[resource] += 1
    changed = allocation_of({0: ALONE}, share=share)
    assert ledger.leases.renew(changed, 100).tolist() == [True]
    assert ledger.log.spans() == [(0, 0, 0, 100)]


def test_a_preempted_job_held_its_gpus_since_its_lease_began() -> None:
    ledger = Ledger()
    ledger.renew(0, {0: ALONE})
    ledger.renew(100, {0: ALONE, 1: {1: 1}})
    ledger.renew(200, {1: {1: 1}})
    assert ledger.log.spans() == [(0, 0, 0, 200)]
    assert ledger.renew(300, {0: ALONE, 1: {1: 1}}) == [0]
    ledger.leases.close(400)
    assert ledger.log.spans() == [(0, 0, 0, 200), (0, 0, 300, 400), (1, 1, 100, 400)]
    assert ledger.table.leases.tolist() == [2, 1, 0, 0]


def test_a_job_that_ended_inside_a_round_held_its_gpus_until_then() -> None:
    ledger = Ledger()
    ledger.renew(0, {0: ALONE, 1: {1: 1}})
    ledger.table.finish_s[0] = 150
    ledger.renew(200, {1: {1: 1}})
    assert ledger.log.spans() == [(0, 0, 0, 150)]


def test_a_lease_says_what_the_job_had_on_each_server() -> None:
    ledger = Ledger()
    allocation = allocation_of({2: {1: 3, 0: 1}}, share=(2.5, 10e9, 1e6))
    allocation.held_to_fair_share[:] = True
    ledger.leases.renew(allocation, 100)
    ledger.leases.close(300)
    assert ledger.log.rows == [
        Lease(2, 1, 3, 7.5, 30e9, 3e6, 100, 300, held_to_fair_share=True),
        Lease(2, 0, 1, 2.5, 10e9, 1e6, 100, 300, held_to_fair_share=True),
    ]


def test_the_very_same_allocation_changes_nothing() -> None:
    ledger = Ledger()
    allocation = allocation_of({0: ALONE, 3: {1: 4}})
    assert ledger.leases.renew(allocation, 0).tolist() == [True, True]
    assert ledger.leases.renew(allocation, 100).tolist() == [False, False]
    assert ledger.log.rows == []


def test_nobody_needs_to_listen() -> None:
    ledger = Ledger()
    leases = Leases(ledger.table)
    leases.renew(allocation_of({0: ALONE}), 0)
    leases.close(100)
    assert ledger.table.leases.tolist() == [1, 0, 0, 0]


def test_closing_twice_ends_nothing_twice() -> None:
    ledger = Ledger()
    ledger.renew(0, {0: ALONE})
    ledger.leases.close(100)
    ledger.leases.close(200)
    assert ledger.log.spans() == [(0, 0, 0, 100)]
    assert ledger.leases.renew(Allocation.nothing(), 300).tolist() == []


def test_leases_of_random_rounds_add_up_to_the_gpu_time_given() -> None:
    rng = np.random.default_rng(1)
    ledger = Ledger()
    given = 0.0
    for round_number in range(200):
        jobs = np.flatnonzero(rng.random(4) < 0.5).tolist()
        places = {job: {int(rng.integers(2)): 1} for job in jobs}
        ledger.renew(100.0 * round_number, places)
        given += 100.0 * len(jobs)
    ledger.leases.close(100.0 * 200)
    assert sum(row.gpus * (row.until_s - row.from_s) for row in ledger.log.rows) == given
    assert len(ledger.log.rows) == ledger.table.leases.sum()
