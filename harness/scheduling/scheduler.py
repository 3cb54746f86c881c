"""A scheduler of rounds: a policy's order, a mechanism's shares, and a guard against starvation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.job_table import Flags, Floats, Ints, JobTable
from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands
from harness.scheduling.mechanisms.mechanism import Mechanism
from harness.scheduling.policies.policy import Policy
from harness.scheduling.waiting import ActiveJobs
from traces.server_pool import ServerPool


@dataclass(frozen=True)
class SchedulerState:
    """What a scheduler keeps from round to round.

    before: the last round's allocation. last_iteration_s: (jobs,) see ActiveJobs. has_priority:
    (jobs,), who waited too long once.
    """

    before: Allocation
    last_iteration_s: Floats
    has_priority: Flags


class Scheduler:
    """Decides one round after the other.

    priority_after_s: a job that has not been served for so long comes before all others from then
    on; None for never.
    """

    def __init__(
        self,
        policy: Policy,
        mechanism: Mechanism,
        table: JobTable,
        demands: Demands,
        pool: ServerPool,
        priority_after_s: float | None = None,
    ) -> None:
        self._policy = policy
        self._mechanism = mechanism
        self._table = table
        self._demands = demands
        self._pool = pool
        self._priority_after_s = priority_after_s
        self._iteration_s = mechanism.iteration_s_by_kind
        self._wish_iteration_s = self._iteration_s[table.kind]
        self._last_iteration_s = self._wish_iteration_s.copy()
        self._has_priority = np.zeros(len(table), dtype=np.bool_)
        self._before = Allocation.nothing()

    @property
    def state(self) -> SchedulerState:
        """As of the last decision; what a policy may keep of its own is not in it."""
        return SchedulerState(
            self._before, self._last_iteration_s.copy(), self._has_priority.copy()
        )

    def resume(self, state: SchedulerState) -> None:
        """Decide from now on as the scheduler would have that was in ``state``."""
        self._before = state.before
        self._last_iteration_s = state.last_iteration_s.copy()
        self._has_priority = state.has_priority.copy()

    @property
    def steady(self) -> bool:
        """Whether a decision stays right until a job arrives or ends."""
        by_arrival = self._policy.steady and not self._mechanism.order_matters
        return by_arrival and self._priority_after_s is None

    def decide(self, jobs: Ints, now_s: float) -> Allocation:
        """The round that begins at ``now_s`` for the active ``jobs``, in order of submission."""
        active = ActiveJobs(
            jobs,
            now_s,
            self._table,
            self._demands,
            self._pool,
            self._iteration_s,
            self._last_iteration_s[jobs],
        )
        order = self._order(active)
        allocation = self._mechanism.allocate(active, order, self._before)
        if allocation is not self._before:
            self._last_iteration_s[self._before.jobs] = self._wish_iteration_s[self._before.jobs]
            self._last_iteration_s[allocation.jobs] = allocation.iteration_s
            self._before = allocation
        return allocation

    def _order(self, active: ActiveJobs) -> Ints:
        key = self._policy.key(active)
        if self._priority_after_s is None:
            return np.argsort(key, kind="stable")
        order = np.lexsort((key, ~self._has_priority[active.jobs]))
        unserved_s = active.now_s - self._table.last_served_s[active.jobs]
        self._has_priority[active.jobs[unserved_s > self._priority_after_s]] = True
        return order
