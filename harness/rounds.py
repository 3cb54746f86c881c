"""The round loop: the only one, for the simulated and for the emulated cluster alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.job_table import Flags, Ints, JobTable
from harness.leases import Leases
from harness.scheduling.allocation import Allocation
from harness.scheduling.scheduler import Scheduler

_DECISIONS_BETWEEN_REPORTS = 256


class RoundCluster(Protocol):
    """A cluster that runs jobs by rounds, and writes down in the JobTable how far they come."""

    def run(
        self, allocation: Allocation, new_lease: Flags, first_round: int, last_round: int
    ) -> int:
        """Run ``allocation`` from first_round up to last_round, which is not run any more.

        new_lease: (jobs of the allocation,), who starts on other resources than before. Returns the
        round that is next: the one after the first in which a job ended, or last_round.
        """
        ...


@dataclass(frozen=True)
class RoundsRun:
    """How a run of rounds went.

    rounds: that passed while jobs were active; decisions: of the scheduler; stopped: by a person;
    end_s: when the loop ended.
    """

    rounds: int
    decisions: int
    stopped: bool
    end_s: float


def run_rounds(
    table: JobTable,
    scheduler: Scheduler,
    cluster: RoundCluster,
    leases: Leases,
    round_s: float,
    measured: Flags,
    progress: Callable[[int], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> RoundsRun:
    """Run until every job of ``measured`` (jobs,) has ended; jobs join at the next round's start.

    Where nothing can change, rounds pass without a decision: until the next job joins or one ends,
    if the scheduler is steady. progress: is told how many of the measured jobs have ended.
    """
    # Rounding must not make a job that is ready exactly at a round's start miss it.
    joins_in_round = np.ceil(table.ready_s / round_s - 1e-9).astype(np.int64)
    active: Ints = np.empty(0, dtype=np.int64)
    joined, unfinished = 0, int(measured.sum())
    ended_before = unfinished
    number = rounds = decisions = 0
    stopped = False
    while unfinished and not stopped:
        if not len(active):
            number = max(number, int(joins_in_round[joined]))
        first = joined
        joined = int(np.searchsorted(joins_in_round, number, side="right"))
        if joined > first:
            active = np.concatenate([active, np.arange(first, joined)])
        allocation = scheduler.decide(active, number * round_s)
        decisions += 1
        new_lease = leases.renew(allocation, number * round_s)
        last_round = number + 1
        if scheduler.steady:
            # With nobody left to join, the end of a job is the next event; there must be one.
            last_round = (
                int(joins_in_round[joined]) if joined < len(table) else np.iinfo(np.int64).max
            )
        next_round = cluster.run(allocation, new_lease, number, last_round)
        rounds += next_round - number
        number = next_round
        ended = ~np.isnan(table.finish_s[allocation.jobs])
        if ended.any():
            unfinished -= int(measured[allocation.jobs[ended]].sum())
            active = active[np.isnan(table.finish_s[active])]
        if decisions % _DECISIONS_BETWEEN_REPORTS == 0:
            progress(ended_before - unfinished)
        stopped = stop()
    progress(ended_before - unfinished)
    leases.close(number * round_s)
    return RoundsRun(rounds, decisions, stopped, number * round_s)
