"""The networks that an arm needs. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from emulator.scale import ScalePlan
from netshaper.plan import NetworkPlan, plan_network
from netshaper.shaping import window_bytes
from traces.errors import BadInputError
from traces.scenario import Arm, Job


@dataclass(frozen=True)
class PlannedNetwork:
    """One network of an arm with the jobs on it; a dedicated arm has one a job."""

    name: str
    plan: NetworkPlan
    jobs: tuple[Job, ...]


def plan_arm(
    arm: Arm, scale: ScalePlan, run_id: str, first_network: int = 0
) -> list[PlannedNetwork]:
    """The networks that ``arm`` needs, named n0, n1, ...: the same for ``plan`` and ``emulate``.

    Raises BadInputError, with a key of the scenario, for what cannot be emulated yet.
    """
    for index, job in enumerate(arm.jobs):
        if job.path_variant != 0:
            raise BadInputError(
                "paths other than the first cannot be emulated yet",
                allowed="0",
                key=f"workload.jobs.{index}.path",
            )
    networks = []
    for index, jobs in enumerate(arm.networks, start=first_network):
        name = f"n{index}"
        plan = plan_network(
            run_id,
            name,
            arm.cluster,
            [job.id for job in jobs],
            scale.rate_divisor,
            connections=sum(len(job.connections) for job in jobs),
        )
        networks.append(PlannedNetwork(name, plan, jobs))
    return networks


def common_window_bytes(plan: NetworkPlan) -> int:
    """One window for all connections, so that none has an advantage in a shared queue."""
    return window_bytes(min(end.shape.rate_bps for end in plan.ports.values()))
