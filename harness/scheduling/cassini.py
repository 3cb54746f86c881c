"""CASSINI's time-shifts for the jobs of an arm (NSDI'24, sections 3 and 4).

Links that carry the same jobs are one: the two directions of a ring's link would otherwise make a
loop of the affinity graph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.scheduling.circles import Rotation, best_rotation
from harness.simulation.fluid import simulate
from traces.cluster import Cluster, Port
from traces.demand import DemandCurve, Phase
from traces.errors import BadInputError
from traces.scenario import Arm, Job
from traces.schedule import TimeShift

GRID_SLACK = 0.005
"""How much longer than the iteration the grid's period is. A grid just as long as the iteration
can only be lost: jitter makes a job late and never early."""


@dataclass(frozen=True)
class SharedLinks:
    """Ports that carry the same jobs, and how those fit together there.

    rotation: None where the jobs' circles cannot be compared; ``incomparable`` then says why.
    """

    jobs: tuple[str, ...]
    ports: tuple[Port, ...]
    capacity_bps: float
    rotation: Rotation | None
    incomparable: str = ""


def ports_of(cluster: Cluster, job: Job) -> set[Port]:
    """Every port that a flow of ``job`` leaves through."""
    return {
        port
        for source, destination in job.connections
        for port in cluster.path(job.servers[source], job.servers[destination], job.path_variant)
    }


def dedicated_curve(cluster: Cluster, job: Job, port: Port) -> DemandCurve:
    """The demand of ``job`` at ``port`` over one iteration that it runs alone."""
    alone = simulate(cluster, [job.model_copy(update={"start_s": 0.0})], iterations=1)
    period_s = alone.iterations[job.id][0].end_s
    phases = tuple(
        Phase(segment.start_s, segment.end_s, segment.rate_bps)
        for segment in alone.segments
        if segment.port == port
    )
    return DemandCurve(period_s, phases)


def shared_links(cluster: Cluster, jobs: Sequence[Job]) -> list[SharedLinks]:
    """The groups of ports that carry more than one job, each with its best rotation.

    Among the ports of a group the one with the lowest rate stands for all.
    """
    on_port: dict[Port, list[Job]] = defaultdict(list)
    for job in jobs:
        for port in sorted(ports_of(cluster, job)):
            on_port[port].append(job)
    groups: dict[tuple[str, ...], list[Port]] = defaultdict(list)
    for port, members in on_port.items():
        if len(members) > 1:
            groups[tuple(job.id for job in members)].append(port)
    by_id = {job.id: job for job in jobs}
    found = []
    for ids, ports in groups.items():
        tightest = min(ports, key=lambda port: (cluster.rate_bps(port), port))
        curves = [dedicated_curve(cluster, by_id[job], tightest) for job in ids]
        capacity_bps = cluster.rate_bps(tightest)
        try:
            rotation, incomparable = best_rotation(curves, capacity_bps), ""
        except ValueError as error:
            rotation, incomparable = None, f"jobs {', '.join(ids)} on {tightest}: {error}"
        found.append(SharedLinks(ids, tuple(ports), capacity_bps, rotation, incomparable))
    return found


def time_shifts(arm: Arm, links: Sequence[SharedLinks]) -> dict[str, TimeShift]:
    """A time-shift for each job that shares a link. A job alone on all its links has none.

    Raises BadInputError where a job is in two groups, which takes the affinity graph's traversal,
    and where the circles of a group cannot be compared.
    """
    shifts: dict[str, TimeShift] = {}
    for group in links:
        rotation = group.rotation
        if rotation is None:
            raise BadInputError(
                group.incomparable,
                allowed="jobs whose circles can be compared, or the interleaver none",
                key="scheduler.interleaver",
            )
        for job, shift_s, period_s in zip(
            group.jobs, rotation.shifts_s, rotation.circle.periods_s, strict=True
        ):
            if job in shifts:
                raise BadInputError(
                    f"in arm {arm.name!r} job {job!r} shares links with different sets of jobs",
                    allowed="jobs that share all their contended links with the same other jobs",
                    key="scheduler.interleaver",
                )
            shifts[job] = TimeShift(shift_s, period_s * (1 + GRID_SLACK))
    return shifts
