"""Rounds of the simulated cluster by hand: how far jobs come, when they end, what restarts cost.

A round takes 100 s, an iteration 1 s unless said otherwise, and every job has one GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.job_table import JobTable
from harness.simulation.round_cluster import RoundSemantics, SimulatedCluster
from tests.unit.harness.scheduling_builders import (
    Kind,
    allocation_of,
    demands_of,
    pool_of,
    table_of,
)

FOREVER = 10_000
NONE = allocation_of({})


def table_with(*iterations: float) -> JobTable:
    return table_of(demands_of(pool_of(1, 4), Kind()), iterations=iterations)


class Cluster:
    """A simulated cluster and its table; jobs are on one server, each on a GPU of its own."""

    def __init__(self, *iterations: float, **semantics: Any) -> None:
        self.table = table_with(*iterations)
        self._cluster = SimulatedCluster(self.table, RoundSemantics(100.0, **semantics))
        self._last = NONE

    def run(
        self,
        first: int,
        last: int = FOREVER,
        *,
        jobs: tuple[int, ...] | None = None,
        new: tuple[int, ...] = (),
        iteration_s: float = 1.0,
    ) -> int:
        """Run ``jobs``, or those of the call before; ``new`` are the jobs with new leases."""
        if jobs is not None:
            self._last = allocation_of({job: {0: 1} for job in jobs}, iteration_s)
        flags = np.isin(self._last.jobs, new)
        return self._cluster.run(self._last, flags, first, last)


def test_a_job_ends_with_its_last_iteration() -> None:
    cluster = Cluster(150)
    assert cluster.run(0, jobs=(0,), new=(0,)) == 2
    table = cluster.table
    assert table.finish_s.tolist() == [150]
    assert table.attained_s.tolist() == [150]
    assert table.done_iterations.tolist() == [150]
    assert table.start_s.tolist() == [0]
    assert table.last_served_s.tolist() == [200]


def test_or_at_the_end_of_its_last_round() -> None:
    cluster = Cluster(150, completion="round-end")
    assert cluster.run(3, jobs=(0,), new=(0,)) == 5
    assert cluster.table.finish_s.tolist() == [500]
    assert cluster.table.attained_s.tolist() == [200]
    assert cluster.table.start_s.tolist() == [300]


@pytest.mark.parametrize("iterations", [100, 11, 39, 49])
def test_a_job_that_exactly_fills_a_round_ends_in_it(iterations: int) -> None:
    """Although in binary 11 times an eleventh of 100, say, is more than 100."""
    cluster = Cluster(iterations)
    assert cluster.run(0, jobs=(0,), iteration_s=100 / iterations) == 1
    assert cluster.table.finish_s == pytest.approx([100])


def test_a_run_stops_after_the_round_in_which_the_first_job_ends() -> None:
    cluster = Cluster(150, 450)
    assert cluster.run(0, jobs=(0, 1)) == 2
    assert np.isnan(cluster.table.finish_s[1])
    assert cluster.table.done_iterations.tolist() == [150, 200]
    assert cluster.table.attained_s.tolist() == [150, 200]
    assert cluster.run(2, jobs=(1,)) == 5
    assert cluster.table.finish_s.tolist() == [150, 450]


def test_and_no_later_than_it_is_told() -> None:
    cluster = Cluster(1000)
    assert cluster.run(0, 3, jobs=(0,)) == 3
    assert cluster.table.done_iterations.tolist() == [300]
    assert np.isnan(cluster.table.finish_s[0])


def test_rounds_pass_when_nobody_runs() -> None:
    cluster = Cluster(100)
    assert cluster.run(3, 7, jobs=()) == 7
    assert cluster.table.attained_s.tolist() == [0]
    assert np.isnan(cluster.table.start_s[0])


def test_iterations_go_on_from_round_to_round() -> None:
    cluster = Cluster(1000)
    cluster.run(0, 1, jobs=(0,), iteration_s=30.0)
    assert cluster.table.done_iterations == pytest.approx([100 / 30])


def test_or_a_round_holds_a_whole_number_of_them() -> None:
    """Three of 30 s in each round, and 10 s of it idle."""
    cluster = Cluster(7, progress="whole-iterations")
    cluster.run(0, 1, jobs=(0,), iteration_s=30.0)
    assert cluster.table.done_iterations.tolist() == [3]
    assert cluster.run(1) == 3
    assert cluster.table.finish_s.tolist() == [230]


@pytest.mark.parametrize(
    ("iterations", "expected"), [(3, (1, 90)), (6, (2, 190)), (7, (3, 230)), (9, (3, 290))]
)
def test_whole_iterations_over_several_rounds_at_once(
    iterations: int, expected: tuple[int, float]
) -> None:
    cluster = Cluster(iterations, progress="whole-iterations")
    last_round, finish_s = expected
    assert cluster.run(0, jobs=(0,), iteration_s=30.0) == last_round
    assert cluster.table.finish_s.tolist() == [finish_s]


def test_the_published_semantics_end_whole_iterations_at_a_rounds_end() -> None:
    cluster = Cluster(7, completion="round-end", progress="whole-iterations")
    assert cluster.run(0, jobs=(0,), iteration_s=30.0) == 3
    assert cluster.table.finish_s.tolist() == [300]


def test_a_new_lease_costs_a_restart() -> None:
    cluster = Cluster(100, 100, restart_s=30.0)
    cluster.run(0, 1, jobs=(0, 1), new=(0,))
    assert cluster.table.done_iterations.tolist() == [70, 100]
    assert cluster.table.attained_s.tolist() == [100, 100]
    assert np.isnan(cluster.table.finish_s[0])
    assert cluster.run(1, jobs=(0,)) == 2
    assert cluster.table.finish_s.tolist() == [130, 100]


def test_a_job_that_has_run_before_pays_for_its_checkpoint_besides() -> None:
    cluster = Cluster(500, 500, restart_s=30.0, checkpoint_s=20.0)
    cluster.run(0, 1, jobs=(0,), new=(0,))
    assert cluster.table.done_iterations.tolist() == [70, 0]
    cluster.run(1, 2, jobs=(0, 1), new=(0, 1))
    assert cluster.table.done_iterations.tolist() == [70 + 50, 70]


def test_a_restart_may_take_longer_than_a_round() -> None:
    """From 0 to 250 s; until then, rounds are passed one by one."""
    cluster = Cluster(100, restart_s=250.0)
    assert cluster.run(0, jobs=(0,), new=(0,)) == 1
    assert cluster.run(1) == 2
    assert cluster.table.done_iterations.tolist() == [0]
    assert cluster.table.attained_s.tolist() == [200]
    assert cluster.run(2) == 4
    assert cluster.table.finish_s.tolist() == [350]
    assert cluster.table.attained_s.tolist() == [350]


def test_whole_iterations_begin_when_the_restart_is_over() -> None:
    """One of 30 s fits into the last 50 s of the third round, three into each later one."""
    cluster = Cluster(5, restart_s=250.0, progress="whole-iterations")
    assert cluster.run(0, jobs=(0,), new=(0,), iteration_s=30.0) == 1
    assert cluster.run(1) == 2
    assert cluster.run(2, 3) == 3
    assert cluster.table.done_iterations.tolist() == [1]
    assert cluster.run(3) == 5
    assert cluster.table.finish_s.tolist() == [430]


def test_whole_iterations_after_a_short_restart_reach_over_rounds_at_once() -> None:
    """Two of 30 s in the first round, from 40 s on, then three a round."""
    cluster = Cluster(6, restart_s=40.0, progress="whole-iterations")
    assert cluster.run(0, jobs=(0,), new=(0,), iteration_s=30.0) == 3
    assert cluster.table.finish_s.tolist() == [230]


def test_a_preempted_restart_starts_from_the_beginning() -> None:
    cluster = Cluster(100, restart_s=250.0)
    cluster.run(0, 1, jobs=(0,), new=(0,))
    cluster.run(1, 2, jobs=())
    cluster.run(2, 3, jobs=(0,), new=(0,))
    assert cluster.run(3, 4) == 4
    assert cluster.run(4) == 6
    assert cluster.table.finish_s.tolist() == [550]


def test_all_that_run_may_restart_whenever_anything_changes() -> None:
    cluster = Cluster(500, 500, restart_s=30.0, restarts="all")
    cluster.run(0, 1, jobs=(0,), new=(0,))
    assert cluster.table.done_iterations.tolist() == [70, 0]
    cluster.run(1, 2)
    assert cluster.table.done_iterations.tolist() == [170, 0]
    cluster.run(2, 3, jobs=(0, 1), new=(1,))
    assert cluster.table.done_iterations.tolist() == [240, 70]
    cluster.run(3, 4, jobs=(1,))
    assert cluster.table.done_iterations.tolist() == [240, 140]


def test_a_job_never_does_more_than_its_iterations() -> None:
    cluster = Cluster(100.000_000_000_001)
    cluster.run(0, jobs=(0,))
    assert cluster.table.done_iterations[0] == cluster.table.iterations[0]
    assert cluster.table.finish_s == pytest.approx([100])
