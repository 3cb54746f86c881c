"""Which jobs meet on which links of a cluster, and what each demands there. Pure."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.job_table import Ints
from harness.simulation.fluid import RateSegment, simulate
from traces.arm import Job
from traces.cluster import Cluster, Port
from traces.demand import Demand, DemandCurve, Phase


@dataclass(frozen=True)
class Footprint:
    """What a job, placed, demands of the ports it uses while it runs alone.

    ports: (ports,) positions in ``Cluster.ports``, ascending. curves: one for each, of one period.
    """

    job: str
    ports: Ints
    curves: tuple[DemandCurve, ...]


@dataclass(frozen=True)
class SharedLink:
    """Ports that carry the same two jobs or more: one vertex of the affinity graph.

    Merged, for a ring meets another ring on both directions of a link, and two vertices for them
    would be a loop. A job's curve is the most that it demands of any of the ports at each time, as
    a share of the port's rate (and scaled to the slowest, ``capacity_bps``): jobs that fit with
    these curves fit on every port. Where all ports are asked for the same, which is the rule, it is
    just that; the slowest port alone would not do where others are asked for more.
    """

    jobs: tuple[str, ...]
    ports: tuple[Port, ...]
    curves: tuple[DemandCurve, ...]
    capacity_bps: float


MOST_KEPT = 20_000
"""Simulated jobs that are kept, some kilobytes each; when there are more, all are forgotten."""


class ClusterLinks:
    """Footprints and shared links on one cluster.

    What it has simulated it keeps: a job is simulated once for all placements in which the same of
    its flows meet at ports of the same rates. Equal curves are one object.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._ports = cluster.ports
        self._rates_bps = [cluster.rate_bps(port) for port in self._ports]
        # By both nodes: thousands of paths are followed, and a Port for each hop takes its time.
        self._position = {(port.node, port.peer): at for at, port in enumerate(self._ports)}
        self._alone: dict[_Structure, dict[tuple[int, ...], DemandCurve]] = {}
        self._curves: dict[DemandCurve, DemandCurve] = {}

    def footprint(self, job: Job) -> Footprint:
        """Of ``job`` on its servers. BadInputError for a sharing that cannot be simulated."""
        flows_at: dict[int, list[int]] = defaultdict(list)
        for flow, (source, destination) in enumerate(sorted(job.connections)):
            servers = job.servers[source], job.servers[destination]
            nodes = self._cluster.nodes_on_path(*servers, job.path_variant)
            for hop in itertools.pairwise(nodes):
                flows_at[self._position[hop]].append(flow)
        used = [(position, tuple(flows)) for position, flows in sorted(flows_at.items())]
        # Of ports that carry the same flows only the slowest can hold them up.
        slowest: dict[tuple[int, ...], int] = {}
        for position, flows in used:
            known = slowest.setdefault(flows, position)
            if self._rates_bps[position] < self._rates_bps[known]:
                slowest[flows] = position
        structure = _Structure(
            job.profile.demand,
            len(job.servers),
            tuple(sorted((flows, self._rates_bps[at]) for flows, at in slowest.items())),
        )
        if structure not in self._alone:
            if len(self._alone) == MOST_KEPT:
                self._alone.clear()
                self._curves.clear()
            ports = [self._ports[position] for position in slowest.values()]
            curves = dedicated_curves(self._cluster, job, ports)
            self._alone[structure] = {
                flows: self._one_object(curve) for flows, curve in zip(slowest, curves, strict=True)
            }
        alone = self._alone[structure]
        return Footprint(
            job.id,
            np.array([position for position, _ in used], dtype=np.int64),
            tuple(alone[flows] for _, flows in used),
        )

    def shared_links(self, footprints: Sequence[Footprint]) -> list[SharedLink]:
        """The groups of ports that carry the same jobs, more than one.

        In the order of their ports; jobs in the order of their periods, then of ``footprints``.
        """
        sizes = [len(footprint.ports) for footprint in footprints]
        if not any(sizes):
            return []
        ports = np.concatenate([footprint.ports for footprint in footprints])
        jobs = np.repeat(np.arange(len(footprints)), sizes)
        places = np.concatenate([np.arange(size) for size in sizes])
        order = np.argsort(ports, kind="stable")
        starts = np.flatnonzero(np.diff(ports[order], prepend=-1))
        ends = np.append(starts[1:], len(order))
        several = ends - starts > 1
        sorted_jobs, sorted_places = jobs[order].tolist(), places[order].tolist()
        sorted_ports = ports[order].tolist()
        groups: dict[tuple[int, ...], list[tuple[int, list[int]]]] = defaultdict(list)
        for start, end in zip(starts[several].tolist(), ends[several].tolist(), strict=True):
            members = tuple(sorted_jobs[start:end])
            groups[members].append((sorted_ports[start], sorted_places[start:end]))
        return [
            self._shared_link([footprints[job] for job in members], places_at)
            for members, places_at in groups.items()
        ]

    def _shared_link(
        self, members: Sequence[Footprint], places_at: Sequence[tuple[int, list[int]]]
    ) -> SharedLink:
        """places_at: each port, and where its curve is in the footprint of each member."""
        rates_bps = [self._rates_bps[port] for port, _ in places_at]
        slowest_bps = min(rates_bps)
        differ = max(rates_bps) > slowest_bps
        curves = []
        for index, member in enumerate(members):
            at_ports = [member.curves[places[index]] for _, places in places_at]
            if differ or any(curve is not at_ports[0] for curve in at_ports):
                scales = [slowest_bps / rate_bps for rate_bps in rates_bps]
                at_ports = [self._one_object(envelope(at_ports, scales))]
            curves.append(at_ports[0])
        order = sorted(range(len(members)), key=lambda index: curves[index].period_s)
        return SharedLink(
            tuple(members[index].job for index in order),
            tuple(self._ports[port] for port, _ in places_at),
            tuple(curves[index] for index in order),
            slowest_bps,
        )

    def _one_object(self, curve: DemandCurve) -> DemandCurve:
        return self._curves.setdefault(curve, curve)


@dataclass(frozen=True)
class _Structure:
    """All that a job's dedicated iteration depends on.

    meeting: which flows meet at some port, and the rate of the slowest such port.
    """

    demand: Demand
    num_workers: int
    meeting: tuple[tuple[tuple[int, ...], float], ...]


def shared_links(cluster: Cluster, jobs: Iterable[Job]) -> list[SharedLink]:
    """The groups of ports of ``cluster`` that carry the same of ``jobs``, more than one."""
    links = ClusterLinks(cluster)
    return links.shared_links([links.footprint(job) for job in jobs])


def dedicated_curves(cluster: Cluster, job: Job, ports: Sequence[Port]) -> tuple[DemandCurve, ...]:
    """The demand of ``job`` at each of ``ports`` over one iteration that it runs alone."""
    alone = simulate(cluster, [job.model_copy(update={"start_s": 0.0})], iterations=1)
    period_s = alone.iterations[job.id][0].end_s
    at_port: dict[Port, list[RateSegment]] = defaultdict(list)
    for segment in alone.segments:
        at_port[segment.port].append(segment)
    return tuple(DemandCurve(period_s, _phases(at_port[port])) for port in ports)


def _phases(segments: Iterable[RateSegment]) -> tuple[Phase, ...]:
    return _joined(Phase(each.start_s, each.end_s, each.rate_bps) for each in segments)


def envelope(curves: Sequence[DemandCurve], scales: Sequence[float]) -> DemandCurve:
    """The most that any of ``curves`` asks for at each time, each times its scale.

    All have one period, which is that of the result.
    """
    moments = {time_s for c in curves for p in c.phases for time_s in (p.start_s, p.end_s)}
    edges_s = np.array(sorted(moments))
    rates = np.zeros(max(len(edges_s) - 1, 0))
    for curve, scale in zip(curves, scales, strict=True):
        for phase in curve.phases:
            inside = (edges_s[:-1] >= phase.start_s) & (edges_s[1:] <= phase.end_s)
            rates[inside] = np.maximum(rates[inside], phase.rate_bps * scale)
    stretches = zip(itertools.pairwise(edges_s.tolist()), rates.tolist(), strict=True)
    return DemandCurve(
        curves[0].period_s,
        _joined(Phase(start_s, end_s, rate) for (start_s, end_s), rate in stretches if rate),
    )


def _joined(phases: Iterable[Phase]) -> tuple[Phase, ...]:
    """``phases`` with neighbours of the same rate made one."""
    found: list[Phase] = []
    for phase in phases:
        last = found[-1] if found else None
        if last and (last.end_s, last.rate_bps) == (phase.start_s, phase.rate_bps):
            found[-1] = Phase(last.start_s, phase.end_s, last.rate_bps)
        else:
            found.append(phase)
    return tuple(found)
