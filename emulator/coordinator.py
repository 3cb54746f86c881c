"""The controller's side of a job: starts iterations, gathers their ends, over plain sockets."""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from emulator.messages import Message, MessageSocket
from emulator.timeshift import TimeShiftAgent
from traces.errors import EmulationError
from traces.results import IterationSpan

START_LEAD_S = 0.05
"""From the moment that all workers are ready to the first iteration."""

_SILENCE_S = 60.0
_POLL_S = 0.1


@dataclass
class JobRun:
    """A job while it runs. The slowest worker decides when an iteration ends.

    quiet_s: of an iteration, for which nothing need be heard of it, as it computes or waits for
    samples. end_s: that its workers need to end what they started. input_change: that the workers'
    input pipelines make before the next iteration, if there is one.
    """

    job: str
    workers: list[MessageSocket]
    iterations: int
    start_after_s: float = 0.0
    quiet_s: float = 0.0
    end_s: float = 0.0
    agent: TimeShiftAgent | None = None
    input_change: Message | None = None
    measured: list[IterationSpan] = field(default_factory=list)
    lateness_s: list[float] = field(default_factory=list)
    _start_s: float = 0.0
    _stopping: bool = False
    _ends: list[Message] = field(default_factory=list)
    _blocked: dict[int, list[float]] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether all iterations are measured."""
        return len(self.measured) == self.iterations

    @property
    def quiet_until_s(self) -> float:
        """Until then nothing need be heard of it: it waits for its start, or is in its quiet_s."""
        return 0.0 if self.done else self._start_s + self.quiet_s

    def begin(self, anchor_s: float) -> None:
        """Start the first iteration, at the job's own start after ``anchor_s`` or on its grid."""
        earliest_s = anchor_s + self.start_after_s
        self._start_iteration(
            earliest_s if self.agent is None else self.agent.first_start_s(earliest_s)
        )

    def stop_after_this_iteration(self) -> None:
        """Start no further iteration; idempotent."""
        if not self.done and not self._stopping:
            self._stopping = True
            self.iterations = len(self.measured) + 1

    def handle(self, message: Message) -> None:
        """One message of one worker."""
        if message["event"] == "received":
            arrivals = self._blocked.setdefault(message["transfer"], [])
            arrivals.append(message["at_s"])
            if len(arrivals) == len(self.workers):
                self._send_all({"do": "resume", "resume_s": max(arrivals)})
                del self._blocked[message["transfer"]]
        elif message["event"] == "end":
            self._ends.append(message)
            if len(self._ends) == len(self.workers):
                self._finish_iteration()

    def _finish_iteration(self) -> None:
        ends, self._ends = self._ends, []
        end_s = max(
            max(end["timeline_end_s"], *end["received_s"], end["input_ready_s"]) for end in ends
        )
        starts = [start for end in ends for start in end["started_s"]]
        self.lateness_s += [late for end in ends for late in end["lateness_s"]]
        self.measured.append(IterationSpan(self._start_s, min(starts, default=end_s), end_s))
        if not self.done:
            self._start_iteration(end_s if self.agent is None else self.agent.next_start_s(end_s))

    def _start_iteration(self, start_s: float) -> None:
        self._start_s = start_s
        self._send_all({"do": "iterate", "start_s": start_s, "input": self.input_change})
        self.input_change = None

    def _send_all(self, message: Message) -> None:
        for worker in self.workers:
            worker.send(message)


def connect_workers(workers: Sequence[MessageSocket], explain: Callable[[], str]) -> None:
    """Bring all workers to ``ready``: everybody listens before anybody connects."""
    for expected, then in (("listening", "connect"), ("ready", None)):
        for worker in workers:
            message = worker.receive()
            if message is None or message["event"] != expected:
                raise EmulationError(f"a worker ended before it was {expected}: {explain()}")
        if then is not None:
            for worker in workers:
                with as_an_end("a worker", explain):
                    worker.send({"do": then})


def run_jobs(
    jobs: Sequence[JobRun],
    anchor_s: float,
    on_iteration: Callable[[JobRun], None],
    stop_wanted: Callable[[], bool],
    explain: Callable[[], str],
    quiet_until_s: float = 0.0,
) -> None:
    """Run all ``jobs`` to their ends; once a stop is wanted, only the iterations under way.

    quiet_until_s: until then silence means nothing, for a link may be down.
    explain: what the children last wrote, for the message when one ends early or falls silent.
    Raises EmulationError then.
    """
    with selectors.DefaultSelector() as selector:
        for job in jobs:
            for worker in job.workers:
                selector.register(worker, selectors.EVENT_READ, (job, worker))
            with as_an_end(f"a worker of job {job.job}", explain):
                job.begin(anchor_s)
        heard_s = now_s()
        while not all(job.done for job in jobs):
            if stop_wanted():
                for job in jobs:
                    job.stop_after_this_iteration()
            ready = selector.select(timeout=_POLL_S)
            heard_s = now_s() if ready else heard_s
            awaited_s = max(heard_s, quiet_until_s, *(job.quiet_until_s for job in jobs))
            if now_s() - awaited_s > _SILENCE_S:
                raise EmulationError(f"no worker has said anything for {_SILENCE_S:.0f} s")
            for key, _ in ready:
                job, worker = key.data
                read_worker(job, worker, on_iteration, explain)


def read_worker(
    job: JobRun,
    worker: MessageSocket,
    on_iteration: Callable[[JobRun], None],
    explain: Callable[[], str],
) -> None:
    """Take in what ``worker`` of ``job`` has said. Raises EmulationError where it has ended."""
    for message in worker.receive_ready():
        if message is None:
            raise EmulationError(
                f"a worker of job {job.job} ended: {explain() or 'it said nothing'}"
            )
        before = len(job.measured)
        with as_an_end(f"a worker of job {job.job}", explain):
            job.handle(message)
        if len(job.measured) > before:
            on_iteration(job)


def end_workers(runs: Sequence[JobRun]) -> None:
    """Tell all workers that it is over, give those time to end what need it, and close."""
    for worker in (worker for run in runs for worker in run.workers):
        with contextlib.suppress(OSError):  # it ended before
            worker.socket.shutdown(socket.SHUT_WR)
    told_s = now_s()
    for run in runs:
        for worker in run.workers:
            worker.wait_for_close(told_s + run.end_s - now_s())
            worker.close()


@contextlib.contextmanager
def as_an_end(who: str, explain: Callable[[], str]) -> Iterator[None]:
    """A message that cannot be sent means that ``who`` ended, and is no broken pipe of ours."""
    try:
        yield
    except OSError:
        raise EmulationError(f"{who} ended: {explain() or 'it said nothing'}") from None


def now_s() -> float:
    """The clock of all workers: monotonic, the same in every namespace."""
    return time.monotonic()
