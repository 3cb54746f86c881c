"""The cluster of the round loop whose jobs share links: simulated or emulated, it is the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.job_table import Flags, JobTable
from harness.scheduling.allocation import Allocation
from traces.arm import Arm, Job
from traces.input_pipeline import Share
from traces.results import IterationSpan
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

    def change_share(self, job: Job) -> None:
        """From its next iteration on, ``job`` has the share of its servers that it says."""
        ...

    def run(self, until_s: float) -> None:
        """Let time pass until ``until_s``, in seconds since the start of all; less where a person
        stops the run."""
        ...

    def spans(self, job: str) -> Sequence[IterationSpan]:
        """The iterations that ``job`` has done since it was started last."""
        ...


class HasShiftsAndShares(Protocol):
    """The scheduler, of which a cluster takes the time-shifts and the shares as well."""

    @property
    def shifts(self) -> Mapping[str, TimeShift]:
        """Of the jobs that run and share links."""
        ...

    @property
    def shares(self) -> Mapping[str, Share]:
        """Of each worker of the jobs that run; empty where CPUs and memory are not divided."""
        ...


@dataclass(frozen=True)
class Stint:
    """What a job did between a start and an end. first_iteration: how many it had done before."""

    job: str
    first_iteration: int
    servers: tuple[str, ...]
    spans: tuple[IterationSpan, ...]


@dataclass
class _Running:
    """A job that runs. first_iteration: how many it had done before. batches_left: when it was
    started. counted: iterations since then, as of the end of the last round."""

    job: Job
    first_iteration: int
    batches_left: int
    counted: int = 0

    @property
    def iterations(self) -> int:
        """That it takes to its end; the last may be of more batches than are left."""
        return math.ceil(self.batches_left / self.job.profile.num_gpus)

    @property
    def batches_left_now(self) -> int:
        """As of the end of the last round."""
        return max(self.batches_left - self.counted * self.job.profile.num_gpus, 0)


class PlacedCluster:
    """Starts and ends jobs as their leases say, and writes down in the JobTable how far they came.

    A job that is started begins ``restart`` after the round does. Its last iteration ends when it
    ends; its servers are free from the next round on. stints: of all jobs, as they ended.

    The work of a job is counted in batches of one GPU, of which each of its workers does one in an
    iteration, and is as many as its iterations have with the workers that it asks for. In the table
    iterations are such, and broken where it had other numbers of workers. Whole iterations alone
    count: the one under way when a job is taken off is lost and done again, by whoever has it next.
    """

    def __init__(
        self, arm: Arm, table: JobTable, network: NetworkJobs, scheduler: HasShiftsAndShares
    ) -> None:
        self._arm = arm
        self._table = table
        self._network = network
        self._scheduler = scheduler
        self._running: dict[int, _Running] = {}
        self._iterations = dict.fromkeys(range(len(table)), 0)
        self._batches_left = {
            row: int(table.iterations[row]) * job.profile.num_gpus
            for row, job in enumerate(arm.jobs)
        }
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
                self._give(row, self._scheduler.shares.get(self._arm.jobs[row].id))
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
        share = self._scheduler.shares.get(self._arm.jobs[row].id)
        job = self._arm.jobs[row].on(servers).with_share(share)
        job = job.model_copy(update={"start_s": start_s})
        running = _Running(job, self._iterations[row], self._batches_left[row])
        self._running[row] = running
        self._shifts[job.id] = shift
        self._network.start(job, running.iterations, shift)

    def _give(self, row: int, share: Share | None) -> None:
        running = self._running[row]
        if share != running.job.share:
            running.job = running.job.with_share(share)
            self._network.change_share(running.job)

    def _keep_to(self, job: str, shift: TimeShift | None) -> None:
        if shift != self._shifts[job]:
            self._shifts[job] = shift
            self._network.change_shift(job, shift)

    def _write_down(self, row: int, round_start_s: float) -> None:
        table, round_s, running = self._table, self._arm.scheduler.round, self._running[row]
        spans = self._network.spans(running.job.id)
        running.counted = len(spans)
        self._iterations[row] = running.first_iteration + running.counted
        self._batches_left[row] = running.batches_left_now
        asked_for = self._arm.jobs[row].profile.num_gpus
        table.done_iterations[row] = table.iterations[row] - self._batches_left[row] / asked_for
        table.last_served_s[row] = round_start_s + round_s
        if self._batches_left[row]:
            table.attained_s[row] += round_s
            return
        table.finish_s[row] = spans[-1].end_s
        table.attained_s[row] += spans[-1].end_s - round_start_s
        self._end(row)

    def _end(self, row: int) -> None:
        running = self._running.pop(row)
        job = running.job
        # An iteration that ended after the round did is not in the table, and is done again.
        spans = tuple(self._network.spans(job.id)[: running.counted])
        self._network.end(job.id)
        self.stints.append(Stint(job.id, running.first_iteration, job.servers, spans))
