"""The fluid simulator: from event to event, with constant rates in between."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from emulator.timeshift import TimeShiftAgent
from harness.simulation.job import SimulatedJob
from harness.simulation.rates import SHARINGS, Flow, allocate
from traces.cluster import Cluster, Port
from traces.link_events import LinkEvent
from traces.results import IterationSpan
from traces.scenario import Job
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


def simulate(
    cluster: Cluster,
    jobs: Sequence[Job],
    iterations: int,
    shifts: Mapping[str, TimeShift] | None = None,
    events: Sequence[LinkEvent] = (),
) -> Simulation:
    """Run ``iterations`` of each of ``jobs`` on ``cluster``.

    events: changes of its links, in order of time. A link that is down has the rate 0; latency is
    not modelled.
    Raises BadInputError, key ``cluster.sharing``, for a discipline other than SHARINGS.
    """
    sharing = cluster.common_sharing(SHARINGS)
    capacity = {port: cluster.rate_bps(port) for port in cluster.ports}
    shifts = shifts or {}
    simulated = [
        SimulatedJob(job, cluster, iterations, agent=_agent(shifts.get(job.id))) for job in jobs
    ]
    segments: list[RateSegment] = []
    now_s = 0.0
    changes = deque(events)
    while not all(job.finished for job in simulated):
        while changes and changes[0].at_s <= now_s:
            change = changes.popleft()
            capacity.update(dict.fromkeys(change.ports, change.rate_bps))
        active = [(job, flow) for job in simulated for flow in job.active()]
        rates = allocate(
            [
                Flow(job.job.id, flow.path, flow.limit_bps, job.job.weight, job.job.priority)
                for job, flow in active
            ],
            capacity,
            sharing,
        )
        next_s = min(job.next_event_s() for job in simulated)
        if changes:
            next_s = min(next_s, changes[0].at_s)
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
        segments += [
            RateSegment(port, job, now_s, next_s, rate_bps)
            for (port, job), rate_bps in loads.items()
            if next_s > now_s
        ]
        now_s = max(now_s, next_s)
        for job in simulated:
            job.advance(now_s)
    return Simulation(
        iterations={job.job.id: job.done for job in simulated},
        segments=segments,
        adjustments={job.job.id: job.agent.adjustments if job.agent else 0 for job in simulated},
    )


def _agent(shift: TimeShift | None) -> TimeShiftAgent | None:
    return None if shift is None else TimeShiftAgent(0.0, shift.shift_s, shift.grid_period_s)
