"""One job in the simulator: where its compute timeline and its transfers stand."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from emulator.timeshift import TimeShiftAgent
from traces.arm import Job
from traces.cluster import Cluster, Port
from traces.demand import Demand
from traces.results import IterationSpan

_DONE_BITS = 1e-3


@dataclass
class SimulatedFlow:
    """What is left of one transfer between two ranks."""

    transfer: int
    path: tuple[Port, ...]
    left_bits: float
    limit_bps: float


@dataclass
class SimulatedJob:
    """The same rules as the emulated worker's: transfers in order on each connection, blocking ones
    hold the timeline, an iteration ends with the last of timeline, transfers and the next input."""

    job: Job
    cluster: Cluster
    iterations: int
    agent: TimeShiftAgent | None = None
    done: list[IterationSpan] = field(default_factory=list)
    _start_s: float = 0.0
    _held_s: float = 0.0
    _next_transfer: int = 0
    _blocked_by: int | None = None
    _first_sent_s: float | None = None
    _connections: dict[tuple[int, int], list[SimulatedFlow]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._demand = self._next_demand = self.job.profile.demand
        servers = self.job.servers
        self._flows = [
            [
                (
                    source,
                    destination,
                    self.cluster.path(servers[source], servers[destination], self.job.path_variant),
                    size,
                )
                for source, destination, size in transfer.flows(len(servers))
            ]
            for transfer in self._demand.transfers
        ]
        earliest_s = self.job.start_s
        self._start_s = self.agent.first_start_s(earliest_s) if self.agent else earliest_s

    @property
    def finished(self) -> bool:
        """Whether all iterations are done."""
        return len(self.done) == self.iterations

    @property
    def ports(self) -> set[Port]:
        """Those that its flows leave through."""
        return {port for flows in self._flows for _, _, path, _ in flows for port in path}

    def active(self) -> list[SimulatedFlow]:
        """The flow at the head of each connection."""
        return [queue[0] for queue in self._connections.values()]

    def next_event_s(self) -> float:
        """When the compute timeline next does something by itself."""
        if self.finished or self._blocked_by is not None:
            return math.inf
        if self._next_transfer < len(self._demand.transfers):
            ready_s = self._demand.transfers[self._next_transfer].ready_s
            return self._start_s + self._held_s + ready_s
        return math.inf if self._connections else self._timeline_end_s

    def take_demand(self, demand: Demand) -> None:
        """From the next iteration on ``demand`` holds, which differs from this in its input."""
        self._next_demand = demand

    @property
    def _timeline_end_s(self) -> float:
        """When it has computed, and has the samples of the next iteration."""
        computed_s = self._start_s + self._held_s + self._demand.compute_s
        return max(computed_s, self._start_s + self._demand.input_s)

    def advance(self, now_s: float) -> None:
        """Do all that is due at ``now_s``, after the flows were drained to it."""
        for pair, queue in list(self._connections.items()):
            while queue and queue[0].left_bits <= _DONE_BITS:
                queue.pop(0)
            if not queue:
                del self._connections[pair]
        if self._blocked_by is not None and self._blocked_by not in self._transfers_left():
            ready_s = self._demand.transfers[self._blocked_by].ready_s
            self._held_s = now_s - self._start_s - ready_s
            self._blocked_by = None
        while self.next_event_s() <= now_s and self._next_transfer < len(self._demand.transfers):
            self._send_next(now_s)
        if self._iteration_over(now_s):
            self._finish(now_s)

    def _transfers_left(self) -> set[int]:
        return {flow.transfer for queue in self._connections.values() for flow in queue}

    def _send_next(self, now_s: float) -> None:
        index = self._next_transfer
        transfer = self._demand.transfers[index]
        self._next_transfer += 1
        self._first_sent_s = now_s if self._first_sent_s is None else self._first_sent_s
        limit_bps = transfer.rate_limit_bps or math.inf
        for source, destination, path, size in self._flows[index]:
            if path:
                queue = self._connections.setdefault((source, destination), [])
                queue.append(SimulatedFlow(index, path, size * 8, limit_bps))
        if transfer.blocking and index in self._transfers_left():
            self._blocked_by = index

    def _iteration_over(self, now_s: float) -> bool:
        return (
            not self.finished
            and not self._connections
            and self._blocked_by is None
            and self._next_transfer == len(self._demand.transfers)
            and now_s >= self._timeline_end_s - 1e-12
        )

    def _finish(self, now_s: float) -> None:
        first_sent_s = now_s if self._first_sent_s is None else self._first_sent_s
        self.done.append(IterationSpan(self._start_s, first_sent_s, now_s))
        if not self.finished:
            self._start_s = self.agent.next_start_s(now_s) if self.agent else now_s
        self._held_s, self._next_transfer, self._first_sent_s = 0.0, 0, None
        self._demand = self._next_demand
