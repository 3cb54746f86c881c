"""The emulated cluster of the round loop: it answers from real processes, a round at a time."""

from __future__ import annotations

import numpy as np

from emulator.rounds.lease import JobProgress, JobState, Lease
from harness.emulation.lease_builder import LeaseBuilder
from harness.emulation.lease_use import LeaseUse
from harness.emulation.servers import Servers
from harness.job_table import WAYS_TO_LEAVE, Flags, JobTable
from harness.scheduling.allocation import Allocation
from harness.simulation.round_cluster import RoundSemantics
from traces.errors import EmulationError


class EmulatedCluster:
    """Tells the servers who holds what, and writes down in the JobTable how far the jobs came.

    Semantics of the round, and what a new lease costs, are those of the simulated cluster, with
    completion ``exact`` and progress ``continuous``. incidents: what went wrong, in clauses.
    """

    def __init__(
        self, table: JobTable, builder: LeaseBuilder, servers: Servers, semantics: RoundSemantics
    ) -> None:
        self._table = table
        self._builder = builder
        self._servers = servers
        self._semantics = semantics
        self._lost_workers = np.zeros(len(table), dtype=np.bool_)
        self._last: Allocation | None = None
        self.use = LeaseUse()
        self.incidents: list[str] = []

    def run(
        self, allocation: Allocation, new_lease: Flags, first_round: int, last_round: int
    ) -> int:
        """See RoundCluster. One round passes, however many could.

        Raises EmulationError where the servers do not say what became of a job.
        """
        del last_round
        if not len(allocation.jobs):
            return first_round + 1
        outcome = self._servers.run_round(first_round, self._leases(allocation, new_lease))
        self.incidents += outcome.incidents
        start_s = first_round * self._semantics.round_s
        for job in allocation.jobs:
            name = self._builder.name_of(int(job))
            if name not in outcome.progress:
                raise EmulationError(f"round {first_round} does not say what became of job {name}")
            self._write_down(int(job), outcome.progress[name], start_s)
        return first_round + 1

    def _leases(self, allocation: Allocation, new_lease: Flags) -> list[Lease]:
        table, semantics, jobs = self._table, self._semantics, allocation.jobs
        new = new_lease | self._lost_workers[jobs]
        self._lost_workers[jobs] = False
        pays = new
        if semantics.restarts == "all" and allocation is not self._last:
            pays = np.ones(len(jobs), dtype=np.bool_)
        self._last = allocation
        ran_before = table.attained_s[jobs] > 0
        cost_s = semantics.restart_s + np.where(ran_before, semantics.checkpoint_s, 0.0)
        left = np.maximum(table.iterations[jobs] - table.done_iterations[jobs], 0.0)
        return [
            self._builder.build(
                allocation,
                position,
                iterations_left=float(left[position]),
                iterations_done=float(table.done_iterations[jobs[position]]),
                lost_s=float(cost_s[position]) if pays[position] else 0.0,
                is_new=bool(new[position]),
            )
            for position in range(len(jobs))
        ]

    def _write_down(self, job: int, progress: JobProgress, start_s: float) -> None:
        table, round_s = self._table, self._semantics.round_s
        self.use.add(job, progress.use)
        if np.isnan(table.start_s[job]):
            table.start_s[job] = start_s
        table.last_served_s[job] = start_s + round_s
        held_s = round_s if progress.ended_s is None else progress.ended_s
        table.attained_s[job] += held_s
        if progress.state is JobState.FINISHED:
            table.done_iterations[job] = table.iterations[job]
            table.finish_s[job] = start_s + held_s
            return
        done = table.done_iterations[job] + progress.iterations
        table.done_iterations[job] = min(done, table.iterations[job])
        if progress.state is JobState.REQUEUED:
            table.requeued[job] += 1
            self._lost_workers[job] = True
        elif progress.state is not JobState.RUNNING:
            table.left_s[job] = start_s + held_s
            table.left_as[job] = WAYS_TO_LEAVE.index(progress.state.value)
