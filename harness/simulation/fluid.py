"""The fluid simulator: from event to event, with constant rates in between."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from emulator.timeshift import agent_of
from harness.simulation.job import SimulatedJob
from harness.simulation.rates import SHARINGS, Flow, allocate
from traces.arm import Job
from traces.cluster import Cluster, Port
from traces.link_events import LinkEvent
from traces.results import IterationSpan
from traces.schedule import TimeShift


@dataclass(frozen=True)
class RateSegment:
    """The rate of all of a job's flows at a port over a stretch of time."""

    port: Port
    job: str
    start_s: float
    end_s: float
    rate_bps: float


@dataclass(frozen=True)
class Simulation:
    """What jobs on one network did. Times in seconds since the common start."""

    iterations: Mapping[str, list[IterationSpan]]
    segments: list[RateSegment]
    adjustments: Mapping[str, int]


class FluidNetwork:
    """Jobs on one network; they may come and go. Time stands still until ``run``.

    loaded: is told the rates at ports, stretch by stretch. events: changes of its links, in order
    of time. A link that is down has the rate 0; latency is not modelled.
    Raises BadInputError, key ``cluster.sharing``, for a discipline other than SHARINGS.
    """

    def __init__(
        self,
        cluster: Cluster,
        loaded: Callable[[RateSegment], None],
        events: Sequence[LinkEvent] = (),
    ) -> None:
        self._loaded = loaded
        self._sharing = cluster.common_sharing(SHARINGS)
        self._cluster = cluster
        self._capacity: dict[Port, float] = {}  # of the ports that some job uses
        self._changes = deque(events)
        self._jobs: list[SimulatedJob] = []
        self.now_s = 0.0

    def add(self, job: SimulatedJob) -> None:
        """``job`` takes part from now on, and begins when it says itself."""
        for port in job.ports:
            self._capacity.setdefault(port, self._cluster.rate_bps(port))
        self._jobs.append(job)

    def remove(self, job: SimulatedJob) -> None:
        """What ``job`` has under way is gone."""
        self._jobs.remove(job)

    def run(self, until_s: float = math.inf) -> None:
        """Until ``until_s``, or until all jobs are done."""
        while self.now_s < until_s and not all(job.finished for job in self._jobs):
            self._step(until_s)
        if math.isfinite(until_s):
            self.now_s = max(self.now_s, until_s)

    def _step(self, until_s: float) -> None:
        """To the next event, with constant rates until then."""
        now_s = self.now_s
        while self._changes and self._changes[0].at_s <= now_s:
            change = self._changes.popleft()
            self._capacity.update(dict.fromkeys(change.ports, change.rate_bps))
        active = [(job, flow) for job in self._jobs for flow in job.active()]
        rates = allocate(
            [
                Flow(job.job.id, flow.path, flow.limit_bps, job.job.weight, job.job.priority)
                for job, flow in active
            ],
            self._capacity,
            self._sharing,
        )
        next_s = min(until_s, *(job.next_event_s() for job in self._jobs))
        if self._changes:
            next_s = min(next_s, self._changes[0].at_s)
        for (_, flow), rate_bps in zip(active, rates, strict=True):
            if rate_bps > 0:
                next_s = min(next_s, now_s + flow.left_bits / rate_bps)
        if not math.isfinite(next_s):
            raise RuntimeError("the simulated jobs wait for each other")
        loads: dict[tuple[Port, str], float] = defaultdict(float)
        for (job, flow), rate_bps in zip(active, rates, strict=True):
            flow.left_bits -= rate_bps * (next_s - now_s)
            if rate_bps > 0 and now_s + flow.left_bits / rate_bps <= now_s:
                flow.left_bits = 0.0  # what is left takes less time than the clock can tell
            for port in flow.path:
                loads[(port, job.job.id)] += rate_bps
        if next_s > now_s:
            for (port, name), rate_bps in loads.items():
                self._loaded(RateSegment(port, name, now_s, next_s, rate_bps))
        self.now_s = max(now_s, next_s)
        for simulated in self._jobs:
            simulated.advance(self.now_s)


def simulate(
    cluster: Cluster,
    jobs: Sequence[Job],
    iterations: Callable[[Job], int] | int,
    shifts: Mapping[str, TimeShift] | None = None,
    events: Sequence[LinkEvent] = (),
) -> Simulation:
    """Run ``iterations`` of each of ``jobs`` on ``cluster`` from its start to its end.

    events: see FluidNetwork. Raises BadInputError as FluidNetwork.
    """
    shifts = shifts or {}
    segments: list[RateSegment] = []
    network = FluidNetwork(cluster, segments.append, events)
    simulated = []
    for job in jobs:
        number = iterations if isinstance(iterations, int) else iterations(job)
        simulated.append(
            SimulatedJob(job, cluster, number, agent=agent_of(shifts.get(job.id), 0.0))
        )
        network.add(simulated[-1])
    network.run()
    return Simulation(
        iterations={job.job.id: job.done for job in simulated},
        segments=segments,
        adjustments={job.job.id: job.agent.adjustments if job.agent else 0 for job in simulated},
    )
