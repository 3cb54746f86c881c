"""The cluster of the round loop whose jobs share links: simulated or emulated, it is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.job_table import Flags, JobTable
from harness.scheduling.allocation import Allocation
from traces.results import IterationSpan
from traces.scenario import Arm, Job
from traces.schedule import TimeShift


class NetworkJobs(Protocol):
    """Jobs that run on one network; they come and go while time passes in ``run``."""

    def start(self, job: Job, iterations: int, shift: TimeShift | None) -> None:
        """Begin ``job``, which has servers, at its own ``start_s``."""
        ...

    def end(self, job: str) -> None:
        """Take ``job`` off; an iteration that is under way is lost."""
        ...

    def change_shift(self, job: str, shift: TimeShift | None) -> None:
        """From its next iteration on, ``job`` keeps to another grid, or to none."""
        ...

    def run(self, until_s: float) -> None:
        """Let time pass until ``until_s``, in seconds since the start of all."""
        ...

    def spans(self, job: str) -> Sequence[IterationSpan]:
        """The iterations that ``job`` has done since it was started last."""
        ...


class HasShifts(Protocol):
    """The scheduler, of which a cluster takes the time-shifts as well."""

    @property
    def shifts(self) -> Mapping[str, TimeShift]:
        """Of the jobs that run and share links."""
        ...


@dataclass(frozen=True)
class Stint:
    """What a job did between a start and an end. first_iteration: how many it had done before."""

    job: str
    first_iteration: int
    servers: tuple[str, ...]
    spans: tuple[IterationSpan, ...]


class PlacedCluster:
    """Starts and ends jobs as their leases say, and writes down in the JobTable how far they came.

    A job that is started begins ``restart`` after the round does. Its last iteration ends when it
    ends; its servers are free from the next round on. stints: of all jobs, as they ended.
    """

    def __init__(
        self, arm: Arm, table: JobTable, network: NetworkJobs, scheduler: HasShifts
    ) -> None:
        self._arm = arm
        self._table = table
        self._network = network
        self._scheduler = scheduler
        self._running: dict[int, Job] = {}
        self._done_before: dict[int, int] = {}
        self._shifts: dict[str, TimeShift | None] = {}
        self.stints: list[Stint] = []

    def run(
        self, allocation: Allocation, new_lease: Flags, first_round: int, last_round: int
    ) -> int:
        """See RoundCluster. One round passes, however many could."""
        del last_round
        round_s, restart_s = self._arm.scheduler.round, self._arm.scheduler.restart
        start_s = first_round * round_s
        kept = set(allocation.jobs[~new_lease].tolist())
        for row in [row for row in self._running if row not in kept]:
            self._end(row)
        for position, row in enumerate(allocation.jobs.tolist()):
            shift = self._scheduler.shifts.get(self._arm.jobs[row].id)
            if row in self._running:
                self._keep_to(self._arm.jobs[row].id, shift)
            else:
                self._start(row, self._servers(allocation, position), start_s + restart_s, shift)
        self._network.run(start_s + round_s)
        for row in list(self._running):
            self._write_down(row, start_s)
        return first_round + 1

    def end_all(self) -> None:
        """Take all jobs off, as at the end of a run."""
        for row in list(self._running):
            self._end(row)

    def _servers(self, allocation: Allocation, position: int) -> tuple[str, ...]:
        first, last = allocation.offsets[position], allocation.offsets[position + 1]
        names = self._arm.cluster.servers
        return tuple(names[server] for server in allocation.servers[first:last])

    def _start(
        self, row: int, servers: tuple[str, ...], start_s: float, shift: TimeShift | None
    ) -> None:
        table = self._table
        if np.isnan(table.start_s[row]):
            table.start_s[row] = start_s
        done = int(table.done_iterations[row])
        job = self._arm.jobs[row].model_copy(update={"servers": servers, "start_s": start_s})
        self._running[row], self._done_before[row] = job, done
        self._shifts[job.id] = shift
        self._network.start(job, int(table.iterations[row]) - done, shift)

    def _keep_to(self, job: str, shift: TimeShift | None) -> None:
        if shift != self._shifts[job]:
            self._shifts[job] = shift
            self._network.change_shift(job, shift)

    def _write_down(self, row: int, round_start_s: float) -> None:
        table, round_s = self._table, self._arm.scheduler.round
        spans = self._network.spans(self._running[row].id)
        table.done_iterations[row] = self._done_before[row] + len(spans)
        table.last_served_s[row] = round_start_s + round_s
        if table.done_iterations[row] < table.iterations[row]:
            table.attained_s[row] += round_s
            return
        table.finish_s[row] = spans[-1].end_s
        table.attained_s[row] += spans[-1].end_s - round_start_s
        self._end(row)

    def _end(self, row: int) -> None:
        job, before = self._running.pop(row), self._done_before[row]
        # An iteration that ended after the round did is not in the table, and is done again.
        count = int(self._table.done_iterations[row]) - before
        spans = tuple(self._network.spans(job.id)[:count])
        self._network.end(job.id)
        self.stints.append(Stint(job.id, before, job.servers, spans))
