"""The networks that an arm needs. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from emulator.scale import ScalePlan
from netshaper.disciplines import JobTraffic
from netshaper.ecn.marking import Marking
from netshaper.link_changes import PlannedChange, delayed_ports, plan_changes
from netshaper.plan import NetworkPlan, plan_network
from netshaper.shaping import window_bytes
from traces.arm import Arm, Job
from traces.errors import MissingCapabilityError


@dataclass(frozen=True)
class PlannedNetwork:
    """One network of an arm with the jobs on it; a dedicated arm has one a job.

    changes: of its links while it runs, in order of time.
    """

    name: str
    plan: NetworkPlan
    jobs: tuple[Job, ...]
    changes: tuple[PlannedChange, ...] = ()


def plan_arm(
    arm: Arm,
    scale: ScalePlan,
    run_id: str,
    first_network: int = 0,
    marking: Marking = Marking.MARKER,
) -> list[PlannedNetwork]:
    """The networks that ``arm`` needs, named n0, n1, ...: the same for ``plan`` and ``emulate``.

    Raises BadInputError, with a key of the scenario, for what cannot be emulated yet, and
    MissingCapabilityError for what cannot with this marking.
    """
    threshold_bytes = arm.transport.ecn_threshold
    if marking is Marking.UNAVAILABLE:
        threshold_bytes = None
    delayed = delayed_ports(arm.events)
    if delayed and threshold_bytes is not None and marking is Marking.RED:
        raise MissingCapabilityError(
            "a port's queue either adds latency or marks, and here red marks",
            remedy="run as root where the eBPF marker can be loaded, or leave the events of "
            "'latency' or 'ecn_threshold' out",
        )
    networks = []
    for index, jobs in enumerate(arm.networks, start=first_network):
        name = f"n{index}"
        traffic = [JobTraffic(job.id, job.weight, job.priority, job.path_variant) for job in jobs]
        plan = plan_network(
            run_id,
            name,
            arm.cluster,
            traffic,
            scale.rate_divisor,
            connections=sum(len(job.connections) for job in jobs),
            ecn_threshold_bytes=None if threshold_bytes is None else round(threshold_bytes),
            marking=marking,
            delayed=delayed,
        )
        changes = plan_changes(plan, arm.cluster, arm.events, traffic, scale.rate_divisor)
        networks.append(PlannedNetwork(name, plan, jobs, changes))
    return networks


def common_window_bytes(plan: NetworkPlan) -> int:
    """One window for all connections, so that none has an advantage in a shared queue."""
    return window_bytes(min(end.shape.rate_bps for end in plan.ports.values()))
