"""Jobs that come and go on an emulated network, while others decide what comes next."""

from __future__ import annotations

import os
import selectors
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from emulator.coordinator import (
    START_LEAD_S,
    JobRun,
    as_an_end,
    connect_workers,
    now_s,
    read_worker,
)
from emulator.cpu_scale import InputWork, input_work
from emulator.input_groups import CpuUse, InputGroups
from emulator.jobs import FIRST_PORT, start_workers
from emulator.messages import MessageSocket
from emulator.networks import PlannedNetwork
from emulator.scale import ScalePlan
from emulator.session import Session
from emulator.timeshift import agent_of
from emulator.wake import wake_promptly
from traces.arm import Job
from traces.errors import EmulationError
from traces.results import IterationSpan
from traces.schedule import TimeShift

_PORTS = 12000
"""From FIRST_PORT on: below those that the kernel gives to connections (32768 and more)."""

_SILENCE_S = 60.0
_POLL_S = 0.1
_SWITCH_INTERVAL_S = 0.2e-3
"""For how long the thread that decides may keep the interpreter from the one that coordinates."""


@dataclass
class _Running:
    run: JobRun
    group: str
    heard_s: float
    inputs: InputGroups | None = None


class EmulatedNetworkJobs:
    """Context of the jobs of one run, all on ``network``. Times are since ``anchor_s``.

    A thread of its own answers workers, so that no iteration waits for a decision. links_up_s:
    until then silence means nothing, for a link may be down. adjustments: of the time-shifts, by
    job. runs: of all starts of jobs. late_starts: how many of them were due before their workers
    were ready. stop_wanted: whether a person wants the run to end. cpu: what input pipelines used,
    for each start of a job that has them.
    """

    def __init__(
        self,
        session: Session,
        network: PlannedNetwork,
        scale: ScalePlan,
        congestion_control: str,
        links_up_s: float = 0.0,
        stop_wanted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._session = session
        self._network = network
        self._scale = scale
        self._congestion_control = congestion_control
        self._stop_wanted = stop_wanted
        self._jobs: dict[str, _Running] = {}
        self._next_port = 0
        self._lock = threading.Lock()
        self._failure: Exception | None = None
        self._stopping = False
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._coordinate, daemon=True)
        self.anchor_s = now_s() + START_LEAD_S
        self._links_up_s = self.anchor_s + links_up_s
        self.runs: list[JobRun] = []
        self.adjustments: Counter[str] = Counter()
        self.late_starts = 0
        self.cpu: list[CpuUse] = []

    def __enter__(self) -> EmulatedNetworkJobs:
        self._switch_interval_s = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_INTERVAL_S)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = True
        self._wake()
        self._thread.join()
        sys.setswitchinterval(self._switch_interval_s)
        for job in list(self._jobs):
            self.end(job)
        self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def start(self, job: Job, iterations: int, shift: TimeShift | None) -> None:
        """Begin ``job`` at its own ``start_s``, or as soon as its workers are ready."""
        group = f"{self._network.name}-{job.id}-{len(self.runs)}"
        first_port = FIRST_PORT + self._next_port
        self._next_port = (self._next_port + len(job.servers)) % _PORTS
        inputs, told, work = None, [], self._input_work(job)
        if work is not None:
            ranks = len(job.servers)
            inputs = InputGroups.create(self._session, job.id, group, ranks, work.cores)
            told = inputs.messages(work)
        workers = start_workers(
            self._session, self._network, job, first_port, self._scale, self._congestion_control,
            group, told,
        )  # fmt: skip
        run = JobRun(job.id, workers, iterations, quiet_s=_quiet_s(job))
        self.runs.append(run)
        try:
            connect_workers(workers, self._session.explain)
        except EmulationError:
            _close(workers)
            raise
        if inputs is not None:
            inputs.count()
        due_s = self.anchor_s + job.start_s
        begin_s = max(due_s, now_s() + START_LEAD_S)
        self.late_starts += begin_s > due_s
        run.start_after_s = begin_s - self.anchor_s
        run.agent = agent_of(shift, self.anchor_s)
        with self._lock:
            self._jobs[job.id] = _Running(run, group, begin_s, inputs)
            for worker in workers:
                self._selector.register(worker, selectors.EVENT_READ, (job.id, worker))
            with as_an_end(f"a worker of job {job.id}", self._session.explain):
                run.begin(self.anchor_s)
        self._wake()

    def end(self, job: str) -> None:
        """Take ``job`` off, with the iteration that is under way."""
        with self._lock:
            running = self._jobs.pop(job)
            for worker in running.run.workers:
                self._selector.unregister(worker)
        self._wake()
        _close(running.run.workers)
        self._session.end_group(running.group)
        if running.inputs is not None:
            self.cpu.append(running.inputs.remove())
        self._count(running.run)

    def change_shift(self, job: str, shift: TimeShift | None) -> None:
        """From its next iteration on."""
        with self._lock:
            run = self._jobs[job].run
            self._count(run)
            run.agent = agent_of(shift, self.anchor_s)

    def change_share(self, job: Job) -> None:
        """Of CPU time at once, of work from its next iteration on."""
        running, work = self._jobs[job.id], self._input_work(job)
        if work is None or running.inputs is None:
            return  # it waits for no samples
        running.inputs.change(work.cores)
        with self._lock:
            # The iteration under way may take as long as it did.
            running.run.quiet_s = max(running.run.quiet_s, _quiet_s(job))
            running.run.input_change = {
                "pipeline": asdict(work.pipeline),
                "share": asdict(work.share),
            }

    def _input_work(self, job: Job) -> InputWork | None:
        return None if self._scale.cpu is None else input_work(job, self._scale.cpu)

    def run(self, until_s: float) -> None:
        """Let time pass; once a stop is wanted, only until the iterations under way have ended.

        Raises EmulationError where a worker ended or fell silent.
        """
        while True:
            if self._failure is not None:
                raise self._failure
            left_s = self.anchor_s + until_s - now_s()
            if left_s <= 0 or (self._stop_wanted() and self._have_ended()):
                return
            time.sleep(min(left_s, _POLL_S))

    def _have_ended(self) -> bool:
        """Let no job start another iteration; whether all have ended theirs."""
        with self._lock:
            for running in self._jobs.values():
                running.run.stop_after_this_iteration()
            return all(running.run.done for running in self._jobs.values())

    def spans(self, job: str) -> Sequence[IterationSpan]:
        """What ``job`` has done since it was started last."""
        return [
            IterationSpan(
                span.start_s - self.anchor_s,
                span.communication_start_s - self.anchor_s,
                span.end_s - self.anchor_s,
            )
            for span in list(self._jobs[job].run.measured)
        ]

    def _count(self, run: JobRun) -> None:
        if run.agent is not None:
            self.adjustments[run.job] += run.agent.adjustments

    def _wake(self) -> None:
        os.write(self._wake_write, b".")

    def _coordinate(self) -> None:
        wake_promptly()
        try:
            while not self._stopping:
                for key, _ in self._selector.select(_POLL_S):
                    if key.fd == self._wake_read:
                        os.read(self._wake_read, 4096)
                    else:
                        self._hear(*key.data)
                self._check_silence()
        except Exception as error:
            self._failure = error  # run raises it

    def _hear(self, job: str, worker: MessageSocket) -> None:
        with self._lock:
            running = self._jobs.get(job)
            if running is None or worker not in running.run.workers:
                return  # it was taken off meanwhile
            running.heard_s = now_s()
            read_worker(running.run, worker, lambda _: None, self._session.explain)

    def _check_silence(self) -> None:
        with self._lock:
            for running in self._jobs.values():
                awaited_s = max(running.heard_s, running.run.quiet_until_s, self._links_up_s)
                if not running.run.done and now_s() - awaited_s > _SILENCE_S:
                    raise EmulationError(
                        f"no worker of job {running.run.job} has said anything for "
                        f"{_SILENCE_S:.0f} s"
                    )


def _quiet_s(job: Job) -> float:
    """See JobRun."""
    return max(job.profile.demand.compute_s, job.profile.demand.input_s)


def _close(workers: Sequence[MessageSocket]) -> None:
    for worker in workers:
        worker.close()
