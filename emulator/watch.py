"""The children that watch a network: the probe before a run, the sampler during it."""

from __future__ import annotations

from emulator.jobs import CONGESTION_CONTROL
from emulator.messages import Message, MessageSocket
from emulator.networks import PlannedNetwork, common_window_bytes
from emulator.session import Session
from traces.cluster import Port
from traces.errors import EmulationError

SAMPLE_INTERVAL_S = 0.02
PROBE_S = 0.3


def calibrate(session: Session, network: PlannedNetwork) -> dict[str, float]:
    """Rate of every port as the probe measured it, by port."""
    plan = network.plan
    ends = list(plan.ports.values())
    by_port = {end.port: end for end in ends}
    ports = []
    for end in ends:
        neighbour = by_port[Port(end.port.peer, end.port.node)]
        here = [end.namespace, end.device, end.address]
        ports.append([*here, neighbour.namespace, neighbour.address])
    specification = {
        "duration_s": PROBE_S,
        "dscp": next(iter(plan.job_dscp.values())),
        "window_bytes": common_window_bytes(plan),
        "congestion_control": CONGESTION_CONTROL,
        "ports": ports,
    }
    probe = session.start("probe", specification)
    try:
        report = probe.receive()
    finally:
        probe.close()
    if report is None:
        raise EmulationError(f"the calibration of the links ended early: {session.explain()}")
    return {str(end.port): rate for end, rate in zip(ends, report["rates_bps"], strict=True)}


def start_sampler(session: Session, network: PlannedNetwork) -> MessageSocket:
    """A sampler of every port of ``network``, ready when this returns."""
    devices: dict[str, list[str]] = {}
    for end in network.plan.ports.values():
        devices.setdefault(end.namespace, []).append(end.device)
    specification = {"interval_s": SAMPLE_INTERVAL_S, "namespaces": devices}
    sampler = session.start("sampler", specification)
    if sampler.receive() is None:
        raise EmulationError(f"the sampler ended early: {session.explain()}")
    return sampler


def stop_sampler(sampler: MessageSocket, session: Session) -> Message:
    """The report of ``sampler``, with a last sample of every port."""
    sampler.send({"do": "stop"})
    report = sampler.receive()
    if report is None:
        raise EmulationError(f"the sampler ended early: {session.explain()}")
    return report
