"""The emulated cluster of a run: workers that hold leases, round after round."""

from __future__ import annotations

import contextlib
import selectors
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType

from emulator.coordinator import now_s
from emulator.cpu_time import read_cpu_time
from emulator.messages import MessageSocket
from emulator.rounds.checkpoint import Checkpoint, WorkerCheckpoint, worker_checkpoint
from emulator.rounds.clock import RoundClock
from emulator.rounds.evidence import RunEvidence
from emulator.rounds.lease import JobProgress, JobState, Lease, RoundOutcome
from emulator.rounds.lease_service import Call, LeaseService
from emulator.rounds.progress import progress_of
from emulator.rounds.running_job import RunningJob, RunningWorker
from emulator.rounds.steps import Divisors
from emulator.rounds.worker_starter import WorkerStarter
from emulator.training.lease_protocol import END, EXTEND

RESUME_LEAD_S = 0.01
RESUME_LEAD_S_PER_WORKER = 0.5e-3
"""From the first answer to the workers until they go on: by then all have heard."""

START_TIMEOUT_S = 30.0
"""Until a new worker must have registered."""

HANG_TIMEOUT_S = 10.0
"""After the end of a round, until a worker that has not reported counts as hung."""

_END_TIMEOUT_S = 10.0


class EmulatedServers:
    """Context of the workers of one run. ``run_round`` is all that a scheduler's loop needs.

    All of them stand still between two rounds. Time passes in rounds only, and there as many times
    faster than on the wall as the stride says.
    """

    def __init__(
        self,
        starter: WorkerStarter,
        service: LeaseService,
        round_s: float,
        divisors: Divisors,
        checkpoints: Mapping[str, Checkpoint] | None = None,
    ) -> None:
        self._starter = starter
        self._service = service
        self._round_s = round_s
        self._round_wall_s = round_s / divisors.stride
        self._divisors = divisors
        self.checkpoints = dict(checkpoints or {})
        self.evidence = RunEvidence(RoundClock(divisors.stride))
        self._jobs: dict[str, RunningJob] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(service, selectors.EVENT_READ)

    def __enter__(self) -> EmulatedServers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end_all()
        self._selector.close()

    def end_all(self) -> None:
        """End all workers, whatever they do."""
        for job in list(self._jobs.values()):
            self._remove(job)

    def run_round(self, number: int, leases: Sequence[Lease]) -> RoundOutcome:
        """Give out ``leases`` for round ``number`` and let it pass.

        Raises EmulationError where a worker cannot be started, which no other round would mend.
        """
        self._end_leases(leases)
        lost = self._begin_leases(leases)
        begun = [job for job in self._jobs.values() if job.lease.job not in lost]
        replies = [(job, worker, self._reply(worker)) for job in begun for worker in job.workers]
        before = read_cpu_time()
        resume_s = now_s() + RESUME_LEAD_S + RESUME_LEAD_S_PER_WORKER * len(replies)
        pause_s = resume_s + self._round_wall_s
        for job, worker, reply in replies:
            job_resume_s = resume_s + job.lease.lost_s / self._divisors.stride
            _answer(worker, {**reply, "resume_s": job_resume_s, "pause_s": pause_s})
        self._await(begun, pause_s + HANG_TIMEOUT_S)
        self.evidence.add_box(before, read_cpu_time())
        self.evidence.clock.add(number * self._round_s, resume_s, self._round_wall_s)
        progress = dict(lost)
        for job in begun:
            progress[job.lease.job] = self._outcome(job, number, resume_s)
        incidents = tuple(
            f"round {number}: job {job}: {each.reason}"
            for job, each in progress.items()
            if each.reason
        )
        return RoundOutcome(progress, incidents)

    def _end_leases(self, leases: Iterable[Lease]) -> None:
        """Workers whose lease is not extended give it back; they stand still, with a checkpoint."""
        extended = {lease.job: lease for lease in leases}
        ending = [
            job
            for job in self._jobs.values()
            if job.lease.job not in extended or not job.holds_same_servers(extended[job.lease.job])
        ]
        for job in ending:
            for worker in job.workers:
                _answer(worker, {"do": "end"})
        self._await(ending, now_s() + _END_TIMEOUT_S)
        for job in ending:
            self._remove(job)

    def _begin_leases(self, leases: Iterable[Lease]) -> dict[str, JobProgress]:
        """Start or change what is new; what became of jobs whose workers did not come up."""
        starting = []
        for lease in leases:
            job = self._jobs.get(lease.job)
            if job is not None:
                if lease.is_new:
                    self._starter.change(job, lease)
                job.lease = lease
                continue
            job = self._starter.start(lease, self._service.address, self._checkpoint_of(lease))
            self._jobs[lease.job] = job
            starting.append(job)
            for worker in job.workers:
                if worker.process is not None:
                    self._selector.register(worker.process, selectors.EVENT_READ, worker)
        self._await(starting, now_s() + START_TIMEOUT_S)
        lost = {}
        for job in starting:
            if all(worker.call for worker in job.workers):
                continue
            state, reason = JobState.REQUEUED, "a worker hung before it had registered"
            if any(worker.gone for worker in job.workers):
                state, reason = _state_lost(job), self._reason_lost(job) or reason
            self.evidence.workers_lost += state is JobState.REQUEUED
            lost[job.lease.job] = JobProgress(state, 0.0, reason=reason)
            self._remove(job)
        return lost

    def _checkpoint_of(self, lease: Lease) -> list[WorkerCheckpoint | None]:
        kept = self.checkpoints.get(lease.job)
        ranks = len(lease.held)
        return [kept.for_rank(rank, ranks) if kept else None for rank in range(ranks)]

    def _reply(self, worker: RunningWorker) -> dict[str, object]:
        """What ``worker`` has to be told beside the times, from which on its use counts anew."""
        worker.before = worker.report
        worker.usage_before = worker.group.usage() if worker.group else None
        return {"do": "run", **self._starter.changes(worker)}

    def _await(self, jobs: Sequence[RunningJob], deadline_s: float) -> None:
        """Until all workers of ``jobs`` stand still or are gone, or until ``deadline_s``."""
        while not all(job.is_waiting for job in jobs):
            left_s = deadline_s - now_s()
            if left_s <= 0:
                return
            for key, _ in self._selector.select(left_s):
                if isinstance(key.fileobj, MessageSocket):
                    self._hear_process(key.data, key.fileobj)
                else:
                    for call in self._service.take():
                        self._hear(call)

    def _hear(self, call: Call) -> None:
        """Unknown workers (ended meanwhile) are told to end."""
        job = self._jobs.get(str(call.request.get("job")))
        rank = call.request.get("rank")
        worker = None
        if job is not None and isinstance(rank, int) and 0 <= rank < len(job.workers):
            worker = job.workers[rank]
        if worker is None:
            call.answer({"do": "end"})
            return
        if call.method == END:
            if call.request["report"] is not None:
                worker.report = call.request["report"]
            worker.finished_s = call.request["finished_s"]
            worker.gone = True
            call.answer({})
            return
        if call.method == EXTEND:
            worker.report = call.request["report"]
        worker.call = call

    def _hear_process(self, worker: RunningWorker, process: MessageSocket) -> None:
        for message in process.receive_ready():
            if message is None:
                self._selector.unregister(process)
                worker.gone = True
            elif message["event"] == "loader-lost":
                worker.loader_status = message["status"]
                worker.gone = True
            elif message["event"] == "command-ended":
                worker.command_status = message["status"]
                worker.gone = True

    def _outcome(self, job: RunningJob, number: int, resume_s: float) -> JobProgress:
        """What the round did for ``job``; one that is over, or lost, is removed."""
        name = job.lease.job
        reason = self._reason_lost(job)
        if reason is not None:
            state = _state_lost(job)
            self.evidence.workers_lost += state is JobState.REQUEUED
            self._remove(job)
            return JobProgress(state, 0.0, reason=reason)
        round_start_s = number * self._round_s
        self.evidence.add_job(job, round_start_s, resume_s, self._round_wall_s)
        progress = progress_of(job, resume_s, self._divisors)
        refused = sum(worker.refused_since() for worker in job.workers)
        if refused:
            reason = f"{refused} messages to its iteration counter were no number"
            progress = replace(progress, reason=reason)
        if progress.state is JobState.FINISHED:
            self.checkpoints.pop(name, None)
            self._remove(job)
        else:
            reports = [worker.report for worker in job.workers]
            self.checkpoints[name] = Checkpoint(
                tuple(worker_checkpoint(report) for report in reports if report is not None)
            )
        return progress

    def _reason_lost(self, job: RunningJob) -> str | None:
        """Why its workers cannot go on, where that is so."""
        for worker in job.workers:
            on = f"the worker on server {worker.held.server}"
            if _ran_out_of_memory(worker):
                return f"{on} ran into its memory guard"
            if worker.command_status is not None:
                return f"the command on server {worker.held.server} ended with " + (
                    f"{worker.command_status}{self._starter.explain()}"
                )
            if worker.loader_status is not None:
                return f"the input pipeline of {on} ended with {worker.loader_status}"
            if worker.gone and worker.finished_s is None:
                return f"{on} ended{self._starter.explain()}"
            if worker.call is None and not worker.gone:
                return f"{on} did not answer within {HANG_TIMEOUT_S:.0f} s"
        return None

    def _remove(self, job: RunningJob) -> None:
        """End its workers, whatever they do, and take back what they hold."""
        for worker in job.workers:
            if worker.process is not None:
                with contextlib.suppress(KeyError):  # its end was heard already
                    self._selector.unregister(worker.process)
        self._starter.remove(job)
        self._jobs.pop(job.lease.job, None)


def _answer(worker: RunningWorker, reply: dict[str, object]) -> None:
    call, worker.call = worker.call, None
    if call is not None:
        call.answer(reply)


def _state_lost(job: RunningJob) -> JobState:
    """What becomes of a job whose workers cannot go on: a fault of its own ends it."""
    if any(_ran_out_of_memory(worker) for worker in job.workers):
        return JobState.OUT_OF_MEMORY
    if any(worker.command_status is not None for worker in job.workers):
        return JobState.FAILED
    return JobState.REQUEUED


def _ran_out_of_memory(worker: RunningWorker) -> bool:
    """Whether the kernel ended its input pipeline for the sake of the memory guard."""
    ended = worker.loader_status is not None or worker.command_status is not None
    if worker.group is None or not ended:
        return False
    kills = worker.group.usage().oom_kills
    earlier = worker.usage_before.oom_kills if worker.usage_before else 0
    return (kills or 0) > (earlier or 0)
