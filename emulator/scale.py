"""The ScalePlan: rates and bytes divided by one number, time kept. Pure.

A link k times slower that carries k times fewer bytes takes the same time; so iterations, phases
and their overlap stay what they are, and one box can carry a cluster (facts of time dilation:
Gupta et al., NSDI'06; here bytes are divided instead of time stretched).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from emulator.cpu_scale import CpuScale
from netshaper.shaping import FRAME_BYTES, PAYLOAD_SHARE, TCP_PAYLOAD_BYTES
from traces.arm import Arm, Job
from traces.cluster import Cluster
from traces.errors import BadInputError
from traces.link_events import fastest
from traces.quantities import format_rate

BITS_PER_S_AND_CORE = 0.8e9
"""Bit/s x hops of single-segment packets that keep one core busy: assumed where none is measured.

Measured on two cores, all ports full: at 0.8e9 in all half the CPU was idle and rates were off by
at most 0.5 % (1.3 % in a second series); at 1.3e9 a sixth was idle and ports lost 1 to 13 %.
"""

BUDGET_SHARE = 0.6
"""Of that budget, what a run may ask for when all jobs send at once."""

GOOD_PACKETS = 500
"""Packets in the smallest transfer at which the grain of a packet no longer shows."""

LEAST_RATE_BPS = 1e6
"""Rate of an emulated link at which a frame takes 12 ms; below it no timing makes sense."""

LEAST_PACKETS = 20
"""Packets below which the hops that a packet waits at show in the length of a transfer."""

_MEASURE = "run roundelay doctor --measure"


@dataclass(frozen=True)
class Budget:
    """What a box carries, in bit/s x hops. source: ``measured on DATE``, or ``assumed: ...``."""

    hop_bps: float
    source: str
    is_measured: bool


def assumed_budget(cores: int, not_used: str | None = None) -> Budget:
    """The budget of a box that was not measured. not_used: why a stored value does not hold."""
    why = "" if not_used is None else f"the stored budget is not used, for {not_used}; "
    return Budget(cores * BITS_PER_S_AND_CORE, f"assumed: {why}{_MEASURE}", is_measured=False)


@dataclass(frozen=True)
class ScalePlan:
    """Links are ``rate_divisor`` times slower, transfers as many times smaller. cpu: where CPUs are
    divided among jobs."""

    rate_divisor: float
    budget_hop_bps: float
    budget_source: str
    load_hop_bps: float
    smallest_transfer_packets: float
    reason: str
    cpu: CpuScale | None = None

    def payload_bytes(self, wire_bytes: float) -> int:
        """TCP payload whose frames fill what ``wire_bytes`` fill on the real link, divided."""
        return max(round(wire_bytes / self.rate_divisor * PAYLOAD_SHARE), 1)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What of the plan may harm the result."""
        found = []
        if self.load_hop_bps > self.budget_hop_bps * BUDGET_SHARE * 1.001:
            found.append(
                f"the links ask for {self.load_hop_bps / 1e9:.2f} Gbit/s x hops, more than "
                f"{BUDGET_SHARE:.0%} of this box's budget of {self.budget_hop_bps / 1e9:.2f} "
                f"({self.budget_source})"
            )
        if self.smallest_transfer_packets < LEAST_PACKETS:
            found.append(
                f"the smallest transfer is {self.smallest_transfer_packets:.0f} packets, "
                f"fewer than {LEAST_PACKETS}"
            )
        return (*found, *(self.cpu.warnings if self.cpu else ()))


def load_hop_bps(cluster: Cluster, jobs: Sequence[Job]) -> float:
    """Bit/s x hops when every job sends at line rate at once, unscaled."""
    total = 0.0
    for job in jobs:
        for source, destination in job.connections:
            path = cluster.path(job.servers[source], job.servers[destination])
            if path:
                total += len(path) * min(cluster.rate_bps(port) for port in path)
    return total


def most_load_hop_bps(cluster: Cluster) -> float:
    """Bit/s x hops at most, whichever jobs run on which servers, unscaled.

    All servers send at the rate of their links over the longest path, or all ports are full.
    """
    servers = set(cluster.servers)
    ports_bps = {port: cluster.rate_bps(port) for port in cluster.ports}
    sent_bps = sum(rate_bps for port, rate_bps in ports_bps.items() if port.node in servers)
    behind: dict[frozenset[str], list[str]] = defaultdict(list)
    for server in cluster.servers:
        behind[frozenset(cluster.graph[server])].append(server)
    # Of servers on the same switches any two stand for all of them.
    ends = [server for alike in behind.values() for server in alike[:2]]
    hops = max(len(cluster.path(one, other)) for one in ends for other in ends)
    return min(sent_bps * hops, sum(ports_bps.values()))


def smallest_transfer_bytes(jobs: Sequence[Job]) -> float:
    """Bytes of the smallest flow of any transfer, with as many workers as each job may have;
    infinite where there is none."""
    return min(
        (
            flow_bytes
            for job in jobs
            for profile in (job.profile, *job.choices)
            for transfer in profile.demand.transfers
            for _, _, flow_bytes in transfer.flows(profile.num_gpus)
        ),
        default=math.inf,
    )


def plan_scale(arms: Sequence[Arm], budget: Budget, rate_divisor: float | None = None) -> ScalePlan:
    """One plan for all ``arms``, so that they can be compared.

    Without ``rate_divisor``: as many packets as do good, where the box's budget allows it; 1 where
    jobs are programs, whose bytes nobody divides. Raises BadInputError where a link would become
    too slow, and for another divisor beside programs.
    """
    load = max(_load_hop_bps(arm) for arm in arms)
    smallest = min(smallest_transfer_bytes(arm.jobs) for arm in arms)
    slowest_link_bps = min(link.rate_bps for arm in arms for link in arm.cluster.links)
    changed_bps = [event.rate_bps for arm in arms for event in arm.events if event.rate_bps > 0]
    slowest_bps = min([slowest_link_bps, *changed_bps])
    if any(job.command for arm in arms for job in arm.jobs):
        if rate_divisor not in (None, 1.0):
            raise BadInputError(
                "links are emulated slower, and a job's command sends all its bytes",
                allowed="1 beside jobs with a command",
                key="scale.rate_divisor",
            )
        divisor, reason = 1.0, "jobs that are commands send all their bytes"
    elif rate_divisor is not None:
        divisor, reason = rate_divisor, "given in the scenario"
    elif load == 0:
        divisor, reason = max(slowest_bps / LEAST_RATE_BPS, 1.0), "no transfer crosses a link"
    else:
        for_budget = load / (budget.hop_bps * BUDGET_SHARE)
        for_packets = smallest / FRAME_BYTES / GOOD_PACKETS
        divisor = _two_digits_up(max(for_budget, for_packets, 1.0))
        reason = (
            f"{GOOD_PACKETS} packets in the smallest transfer, within this box's budget"
            if for_packets >= for_budget
            else f"{BUDGET_SHARE:.0%} of this box's budget"
        )
        if max(for_budget, 1.0) <= slowest_bps / LEAST_RATE_BPS < divisor:
            divisor = slowest_bps / LEAST_RATE_BPS
            reason = f"no link slower than {format_rate(LEAST_RATE_BPS)}, within this box's budget"
        reason += f", {budget.source}"
    if not slowest_bps / divisor >= LEAST_RATE_BPS:
        raise BadInputError(
            f"a link of {format_rate(slowest_bps)} would be emulated at "
            f"{format_rate(slowest_bps / divisor)}",
            allowed=f"links that keep {format_rate(LEAST_RATE_BPS)} after division by the scale",
            key="scale.rate_divisor"
            if rate_divisor is not None
            else "cluster.rate"
            if slowest_bps == slowest_link_bps
            else "events",
        )
    packets = smallest / divisor * PAYLOAD_SHARE / TCP_PAYLOAD_BYTES
    return ScalePlan(divisor, budget.hop_bps, budget.source, load / divisor, packets, reason)


def _load_hop_bps(arm: Arm) -> float:
    cluster = fastest(arm.cluster, arm.events)
    if arm.is_scheduled:
        return most_load_hop_bps(cluster)
    return load_hop_bps(cluster, arm.jobs)


def _two_digits_up(value: float) -> float:
    """The next number with two significant digits: a divisor that a person can read."""
    magnitude = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / magnitude - 1e-9) * magnitude:.12g}")
