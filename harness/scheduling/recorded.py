"""An open loop: a scheduler that gives out what a recorded schedule gave, round by round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.job_table import Flags, Floats, Ints
from harness.scheduling.allocation import Allocation
from traces.server_pool import ServerPool

_ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class RecordedLeases:
    """Leases of a recorded schedule, by job and then by their first round; (n,) unless said.

    allocation: of all of them at once, so that its jobs repeat, ascending. first_round, end_round:
    a lease is held from the one up to the other, which is not its own any more.
    """

    allocation: Allocation
    first_round: Ints
    end_round: Ints

    def rows(self, lease: int) -> slice:
        """Where the servers and GPUs of ``lease`` stand."""
        return slice(*self.allocation.offsets[lease : lease + 2])

    def used(self, lease: int) -> Floats:
        """(servers of the lease, 1 + RESOURCES): the GPUs, and what they have together."""
        gpus = self.allocation.gpus[self.rows(lease)].astype(float)
        return gpus[:, None] * np.concatenate(([1.0], self.allocation.share[lease]))


class RecordedSchedule:
    """See RoundScheduler. Never steady: what was recorded may change in any round.

    A job that is not finished when its last lease ends keeps it until it is; what others should
    begin with meanwhile they wait for, in the order in which their leases should have begun. What a
    job frees early nobody gets.
    """

    steady = False

    def __init__(self, leases: RecordedLeases, pool: ServerPool, round_s: float) -> None:
        self._leases = leases
        self._round_s = round_s
        self._capacity = np.column_stack([pool.gpus, pool.resources]) * _ROUNDING
        self._begin_order = np.lexsort((leases.allocation.jobs, leases.first_round))
        self._held: Ints = np.empty(0, dtype=np.int64)
        self._before = Allocation.nothing()
        self._overran: set[int] = set()
        self.waited_rounds = 0

    @property
    def overran(self) -> int:
        """How many jobs were not finished when their last recorded lease ended."""
        return len(self._overran)

    def decide(self, jobs: Ints, now_s: float) -> Allocation:
        """See RoundScheduler. waited_rounds: rounds, over all jobs, that a lease began late."""
        wanted = self._wanted(jobs, round(now_s / self._round_s))
        held = wanted[self._fit(wanted)]
        self.waited_rounds += len(wanted) - len(held)
        if not np.array_equal(held, self._held):
            self._held = held
            self._before = _of_leases(self._leases, held)
        return self._before

    def _wanted(self, jobs: Ints, number: int) -> Ints:
        """The leases, ascending, that ``jobs`` should hold in round ``number``."""
        leases = self._leases
        rows = np.flatnonzero(np.isin(leases.allocation.jobs, jobs))
        rows = rows[leases.first_round[rows] <= number]
        job = leases.allocation.jobs[rows]
        rows = rows[np.append(job[1:] != job[:-1], [True] * (len(rows) > 0))]  # each job's latest
        over = leases.end_round[rows] <= number
        is_last: Flags = np.append(np.diff(leases.allocation.jobs) != 0, True)[rows]
        self._overran.update(leases.allocation.jobs[rows[over & is_last]].tolist())
        held: Ints = rows[~over | is_last]
        return held

    def _fit(self, wanted: Ints) -> Flags:
        """(wanted,): which of them have room; those that are held already come first."""
        free = self._capacity.copy()
        fits = np.zeros(len(wanted), dtype=np.bool_)
        by_begin = self._begin_order[np.isin(self._begin_order, wanted)]
        is_held = np.isin(by_begin, self._held)
        for lease in np.concatenate([by_begin[is_held], by_begin[~is_held]]).tolist():
            servers = self._leases.allocation.servers[self._leases.rows(lease)]
            used = self._leases.used(lease)
            if (used <= free[servers]).all():
                free[servers] -= used
                fits[np.searchsorted(wanted, lease)] = True
        return fits


def _of_leases(leases: RecordedLeases, held: Ints) -> Allocation:
    """The allocation in which exactly ``held`` are held."""
    recorded = leases.allocation
    rows = [np.arange(len(recorded.servers))[leases.rows(lease)] for lease in held.tolist()]
    every_row = np.concatenate([np.empty(0, dtype=np.int64), *rows])
    return Allocation(
        jobs=recorded.jobs[held],
        gpu_type=recorded.gpu_type[held],
        offsets=np.cumsum([0, *map(len, rows)]),
        servers=recorded.servers[every_row],
        gpus=recorded.gpus[every_row],
        share=recorded.share[held],
        iteration_s=recorded.iteration_s[held],
        held_to_fair_share=recorded.held_to_fair_share[held],
    )
