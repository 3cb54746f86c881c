"""The round loop: the only one, for the simulated and for the emulated cluster alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.job_table import Flags, Ints, JobTable
from harness.leases import Leases
from harness.scheduling.allocation import Allocation

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


class RoundScheduler(Protocol):
    """Decides about rounds. See harness.scheduling.scheduler.Scheduler."""

    @property
    def steady(self) -> bool:
        """Whether a decision stays right until a job arrives or ends."""
        ...

    def decide(self, jobs: Ints, now_s: float) -> Allocation:
        """The round that begins at ``now_s`` for the active ``jobs``, in order of submission."""
        ...


@dataclass(frozen=True)
class Position:
    """Where the loop stands between two rounds.

    number: of the next round. rounds, decisions: so far. running: jobs that ran in the last one;
    active: jobs that have joined and not ended.
    """

    number: int = 0
    rounds: int = 0
    decisions: int = 0
    running: int = 0
    active: int = 0


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
    scheduler: RoundScheduler,
    cluster: RoundCluster,
    leases: Leases,
    round_s: float,
    measured: Flags,
    progress: Callable[[int], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    passed: Callable[[Position], None] = lambda _: None,
    begin: Position | None = None,
) -> RoundsRun:
    """Run until every job of ``measured`` (jobs,) has ended; jobs join at the next round's start.

    Where nothing can change, rounds pass without a decision: until the next job joins or one ends,
    if the scheduler is steady. progress: is told how many of the measured jobs have ended. passed:
    is told after every decision where the loop stands, and from there it can ``begin`` again with
    the same table, scheduler and leases.
    """
    begin = begin or Position()
    # Rounding must not make a job that is ready exactly at a round's start miss it.
    joins_in_round = np.ceil(table.ready_s / round_s - 1e-9).astype(np.int64)
    joined = int(np.searchsorted(joins_in_round, begin.number - 1, side="right"))
    active: Ints = np.arange(joined, dtype=np.int64)
    active = active[np.isnan(table.end_s(active))]
    everything = np.arange(len(table))
    counted = int(measured.sum())
    unfinished = int((measured & np.isnan(table.end_s(everything))).sum())
    number, rounds, decisions = begin.number, begin.rounds, begin.decisions
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
        ended = ~np.isnan(table.end_s(allocation.jobs))
        if ended.any():
            unfinished -= int(measured[allocation.jobs[ended]].sum())
            active = active[np.isnan(table.end_s(active))]
        if decisions % _DECISIONS_BETWEEN_REPORTS == 0:
            progress(counted - unfinished)
        passed(Position(number, rounds, decisions, len(allocation.jobs), len(active)))
        stopped = stop()
    progress(counted - unfinished)
    leases.close(number * round_s)
    return RoundsRun(rounds, decisions, stopped, number * round_s)
