"""The scheduler by hand: orders, starvation, the speeds of the round before, and steadiness."""

from __future__ import annotations

import numpy as np
import pytest

from harness.job_table import Floats, Ints
from harness.scheduling.allocation import Allocation
from harness.scheduling.mechanisms import MECHANISMS
from harness.scheduling.policies import POLICIES
from harness.scheduling.policies.policy import Policy
from harness.scheduling.scheduler import Scheduler
from harness.scheduling.waiting import ActiveJobs
from tests.unit.harness.scheduling_builders import (
    Kind,
    demands_of,
    pool_of,
    run_jobs,
    table_of,
)
from traces.server_pool import ServerGroup, ServerPool

POOL = pool_of(servers=1, gpus=1)
DEMANDS = demands_of(POOL, Kind())


class RecordingMechanism:
    """Runs nobody, and notes in which order the jobs came."""

    order_matters = False

    def __init__(self) -> None:
        self.orders: list[list[int]] = []

    @property
    def iteration_s_by_kind(self) -> Floats:
        return np.array([1.0])

    def allocate(self, active: ActiveJobs, order: Ints, before: Allocation) -> Allocation:
        self.orders.append(active.jobs[order].tolist())
        return before

    def report(self) -> dict[str, float]:
        return {}


def test_jobs_come_in_the_order_of_their_keys_and_equal_ones_as_submitted() -> None:
    keys = np.array([3.0, 1.0, 2.0, 1.0])
    table = table_of(DEMANDS, iterations=[1] * 4)
    mechanism = RecordingMechanism()
    policy = Policy(lambda active: keys[active.jobs], steady=True)
    scheduler = Scheduler(policy, mechanism, table, DEMANDS, POOL)
    scheduler.decide(np.arange(4), 0.0)
    scheduler.decide(np.array([0, 2, 3]), 100.0)
    assert mechanism.orders == [[1, 3, 2, 0], [3, 2, 0]]


def test_a_job_unserved_for_too_long_comes_first_from_the_next_round_on() -> None:
    """A stream of shorter jobs keeps the first one waiting: at 300 s it has waited too long."""
    table = table_of(
        DEMANDS, iterations=[250, *[100] * 8], submit_s=[0, *(100.0 * n for n in range(8))]
    )
    run = run_jobs(table, DEMANDS, POOL, "srtf", priority_after_s=250)
    assert run.table.start_s[0] == 400
    assert run.table.finish_s[0] == 650
    # And the stream goes on thereafter.
    assert run.table.start_s[1:].tolist() == [0, 100, 200, 300, 700, 800, 900, 1000]


def test_without_the_guard_it_waits_for_the_end_of_the_stream() -> None:
    table = table_of(
        DEMANDS, iterations=[250, *[100] * 8], submit_s=[0, *(100.0 * n for n in range(8))]
    )
    run = run_jobs(table, DEMANDS, POOL, "srtf")
    assert run.table.start_s[0] == 800


def test_a_wait_of_exactly_the_limit_is_not_too_long() -> None:
    table = table_of(DEMANDS, iterations=[1, 1])
    mechanism = RecordingMechanism()
    policy = Policy(lambda active: np.array([1.0, 0.0]), steady=True)
    scheduler = Scheduler(policy, mechanism, table, DEMANDS, POOL, priority_after_s=250.0)
    table.last_served_s[:] = [0, 300]
    for now_s in (250.0, 251.0, 252.0):
        scheduler.decide(np.arange(2), now_s)
    assert mechanism.orders == [[1, 0], [1, 0], [0, 1]]


def test_of_several_jobs_unserved_for_too_long_the_policys_order_holds() -> None:
    table = table_of(DEMANDS, iterations=[1] * 4)
    mechanism = RecordingMechanism()
    policy = Policy(lambda active: np.array([4.0, 3.0, 2.0, 1.0]), steady=True)
    scheduler = Scheduler(policy, mechanism, table, DEMANDS, POOL, priority_after_s=250.0)
    table.last_served_s[:] = [0, 0, 400, 400]
    scheduler.decide(np.arange(4), 400.0)
    scheduler.decide(np.arange(4), 500.0)
    assert mechanism.orders == [[3, 2, 1, 0], [1, 0, 3, 2]]


def test_policies_see_the_speeds_of_the_last_decided_round() -> None:
    """Held to the fair share beside a peer; with the wish alone; and not at all."""
    pool = pool_of(servers=1, gpus=2)
    demands = demands_of(pool, Kind(cpus=5, speedup=2))
    table = table_of(demands, iterations=[1] * 3)
    seen: list[list[float]] = []

    def key(active: ActiveJobs) -> Floats:
        seen.append(active.last_iteration_s.tolist())
        return active.submit_s

    tune = MECHANISMS["tune"](demands, pool, "best-fit")
    scheduler = Scheduler(Policy(key, steady=True), tune, table, demands, pool)
    for jobs in ([0, 1, 2], [0, 1, 2], [2], [0, 1, 2]):
        scheduler.decide(np.array(jobs), 0.0)
    assert seen == [[0.5, 0.5, 0.5], [1, 1, 0.5], [0.5], [0.5, 0.5, 0.5]]


TWO_TYPES = ServerPool((ServerGroup(1, 1, 3, 1e9), ServerGroup(1, 1, 3, 1e9, gpu_type="a100")))


@pytest.mark.parametrize(
    ("policy", "mechanism", "pool", "priority_after_s", "steady"),
    [
        ("fifo", "tune", POOL, None, True),
        ("srtf", "proportional", POOL, None, True),
        ("las", "tune", POOL, None, False),
        ("fifo", "greedy", POOL, None, False),
        ("fifo", "tune-published", POOL, None, False),
        ("fifo", "tune", POOL, 1e6, False),
        ("srsf", "tune", TWO_TYPES, None, False),
    ],
)
def test_a_scheduler_is_steady_where_nothing_can_change_between_events(
    policy: str, mechanism: str, pool: ServerPool, priority_after_s: float | None, steady: bool
) -> None:
    demands = demands_of(pool, Kind())
    scheduler = Scheduler(
        POLICIES[policy](),
        MECHANISMS[mechanism](demands, pool, "best-fit"),
        table_of(demands, iterations=[1]),
        demands,
        pool,
        priority_after_s,
    )
    assert scheduler.steady == steady
