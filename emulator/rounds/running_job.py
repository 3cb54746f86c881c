"""The controller's record of a job whose workers run: what they hold, and what they last said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from emulator.limits.limited_group import LimitedGroup
from emulator.limits.usage import Usage
from emulator.messages import MessageSocket
from emulator.rounds.lease import Held, Lease
from emulator.rounds.lease_service import Call
from emulator.rounds.steps import WorkerWork

Report = dict[str, Any]


@dataclass
class RunningWorker:
    """One worker of a job, on one server.

    slot: of its server's storage link. guard_bytes: of memory, that its input pipeline may use at
    most. is_changed: whether it has yet to hear that its lease gives it something else.
    process: the socket to it, which closes when it ends. call: what it waits for an answer to, and
    so stands still. before: its last report but one, and the usage of its group at that time.
    """

    rank: int
    held: Held
    work: WorkerWork
    slot: int
    group: LimitedGroup | None
    guard_bytes: int = 0
    is_changed: bool = False
    process: MessageSocket | None = None
    call: Call | None = None
    report: Report | None = None
    before: Report | None = None
    usage_before: Usage | None = None
    finished_s: float | None = None
    loader_status: int | None = None
    command_status: int | None = None
    gone: bool = False

    def steps_since(self) -> float:
        """Steps done between the last two reports."""
        if self.report is None:
            return 0.0
        return float(self.report["steps"]) - (float(self.before["steps"]) if self.before else 0.0)

    def refused_since(self) -> int:
        """Messages to a command's iteration counter, of the last round, that were no number."""
        if self.report is None:
            return 0
        return int(self.report.get("refused", 0)) - int((self.before or {}).get("refused", 0))

    def growth_of(self, name: str) -> float:
        """How much one of the loader's counters grew between the last two reports."""
        if self.report is None:
            return 0.0
        earlier = self.before["loader"][name] if self.before else 0
        return float(self.report["loader"][name]) - float(earlier)


@dataclass
class RunningJob:
    """A job with its lease of this round, and its workers by rank."""

    lease: Lease
    workers: list[RunningWorker] = field(default_factory=list)

    @property
    def is_waiting(self) -> bool:
        """Whether every worker stands still, at the end of a round or of the job."""
        return all(worker.call is not None or worker.gone for worker in self.workers)

    def holds_same_servers(self, lease: Lease) -> bool:
        """Whether ``lease`` is for the GPUs that its workers run on."""
        return [(h.server, h.gpus) for h in self.lease.held] == [
            (h.server, h.gpus) for h in lease.held
        ]
