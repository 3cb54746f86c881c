"""Tiresias' queues by hand: who is demoted, who is before whom, and what stays as it was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from harness.scheduling.policies import POLICIES
from tests.unit.harness.scheduling.policies.orders import order_of
from tests.unit.harness.scheduling_builders import Kind, active_of, demands_of, pool_of, table_of

FIRST_LIMIT, SECOND_LIMIT = 3250.0, 7200.0


class Jobs:
    """Five jobs, and the order that one policy gives them round after round."""

    def __init__(self, num_gpus: int = 1) -> None:
        self._pool = pool_of(servers=4, gpus=4)
        self._demands = demands_of(self._pool, Kind(num_gpus=num_gpus))
        self._table = table_of(self._demands, iterations=[1e6] * 5)
        self._policy = POLICIES["tiresias"]()
        self._now_s = 0.0

    def order(
        self,
        runs: Sequence[int] = (),
        attained_s: dict[int, float] | None = None,
        jobs: Sequence[int] = (0, 1, 2, 3),
        comes: Sequence[int] = (),
    ) -> list[int]:
        """After a round in which ``runs`` ran, and had attained at least a second by its end.

        comes: jobs that are ready at this very moment.
        """
        self._now_s += 100
        self._table.last_served_s[list(comes)] = self._now_s
        for job in runs:
            self._table.last_served_s[job] = self._now_s
            self._table.attained_s[job] = max(self._table.attained_s[job], 1.0)
        for job, seconds in (attained_s or {}).items():
            self._table.attained_s[job] = seconds
        active = active_of(self._table, self._demands, self._pool, self._now_s, jobs)
        return order_of(self._policy, active)


def test_new_jobs_are_in_order_of_submission_after_those_that_wait() -> None:
    jobs = Jobs()
    assert jobs.order(jobs=[0, 2]) == [0, 2]
    assert jobs.order(runs=[2], jobs=[0, 2]) == [2, 0]
    assert jobs.order(runs=[2], jobs=[0, 1, 2, 3]) == [2, 0, 1, 3]


def test_a_job_that_has_just_come_does_not_run() -> None:
    jobs = Jobs()
    assert jobs.order(jobs=[0, 1]) == [0, 1]
    assert jobs.order(jobs=[0, 1, 2], comes=[2]) == [0, 1, 2]


def test_jobs_that_run_come_before_those_that_wait_and_else_the_order_stays() -> None:
    jobs = Jobs()
    assert jobs.order() == [0, 1, 2, 3]
    assert jobs.order(runs=[1]) == [1, 0, 2, 3]
    assert jobs.order(runs=[2]) == [2, 1, 0, 3]
    assert jobs.order() == [2, 1, 0, 3]
    assert jobs.order(runs=[0, 1]) == [1, 0, 2, 3]


@pytest.mark.parametrize(
    ("attained_s", "expected"),
    [(FIRST_LIMIT - 1, [0, 1, 2, 3]), (FIRST_LIMIT, [1, 2, 3, 0]), (SECOND_LIMIT, [1, 2, 3, 0])],
)
def test_a_job_leaves_its_queue_when_it_reaches_the_limit(
    attained_s: float, expected: list[int]
) -> None:
    assert Jobs().order(runs=[0], attained_s={0: attained_s}) == expected


def test_the_limit_is_of_gpu_time() -> None:
    assert Jobs(num_gpus=4).order([0], {0: FIRST_LIMIT / 4}) == [1, 2, 3, 0]
    assert Jobs(num_gpus=4).order([0], {0: FIRST_LIMIT / 4 - 1}) == [0, 1, 2, 3]


def test_queues_come_one_after_the_other() -> None:
    attained_s = {0: SECOND_LIMIT, 1: FIRST_LIMIT, 2: 0.0, 3: FIRST_LIMIT}
    assert Jobs().order(attained_s=attained_s) == [2, 1, 3, 0]


def test_a_demoted_job_stands_at_the_end_of_its_new_queue_although_it_runs() -> None:
    jobs = Jobs()
    jobs.order()
    assert jobs.order(attained_s={3: FIRST_LIMIT}) == [0, 1, 2, 3]
    assert jobs.order(runs=[0], attained_s={0: FIRST_LIMIT}) == [1, 2, 3, 0]
    # Had it kept its GPUs there, it would now be before those that wait.
    assert jobs.order(runs=[0]) == [1, 2, 0, 3]


def test_jobs_demoted_together_stand_in_order_of_submission() -> None:
    jobs = Jobs()
    assert jobs.order(runs=[2, 3]) == [2, 3, 0, 1]
    both = {0: FIRST_LIMIT, 2: FIRST_LIMIT}
    assert jobs.order(runs=[2], attained_s=both) == [3, 1, 0, 2]


def test_nobody_comes_back_from_the_last_queue() -> None:
    jobs = Jobs()
    jobs.order(attained_s={0: 10 * SECOND_LIMIT})
    assert jobs.order(runs=[0], attained_s={0: 11 * SECOND_LIMIT}) == [1, 2, 3, 0]


def test_each_run_has_queues_of_its_own() -> None:
    first, second = Jobs(), Jobs()
    first.order(attained_s={0: FIRST_LIMIT})
    assert second.order() == [0, 1, 2, 3]


def test_places_never_reach_into_the_next_queue() -> None:
    """However many jobs are demoted at once, keys of the queues do not overlap."""
    pool = pool_of(servers=4, gpus=4)
    demands = demands_of(pool, Kind())
    table = table_of(demands, iterations=[1e6] * 50)
    policy = POLICIES["tiresias"]()
    rng = np.random.default_rng(0)
    for round_number in range(30):
        now_s = 100.0 * round_number
        runs = rng.random(50) < 0.5
        table.attained_s[runs] += 400
        table.last_served_s[runs] = now_s
        active = active_of(table, demands, pool, now_s)
        order = order_of(policy, active)
        queues = np.searchsorted([FIRST_LIMIT, SECOND_LIMIT], table.attained_s, side="right")
        assert (np.diff(queues[order]) >= 0).all()
