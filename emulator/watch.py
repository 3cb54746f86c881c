"""The children that watch a network: the probe before a run, the sampler during it."""

from __future__ import annotations

import contextlib

from emulator.messages import Message, MessageSocket
from emulator.networks import PlannedNetwork, common_window_bytes
from emulator.session import Session
from netshaper.ecn.marking import Marking
from traces.cluster import Port
from traces.errors import EmulationError

SAMPLE_INTERVAL_S = 0.01

DRAIN_S = 0.2
"""Before the last sample, where jobs were ended in mid-transfer: what they had on its way has to be
somewhere, and counters of two ports are read one after the other."""

PROBE_S = 0.3
_PROBE_CONGESTION_CONTROL = "reno"  # every kernel has it, and windows are what limits a probe


def calibrate(session: Session, network: PlannedNetwork, at_once_bps: float) -> dict[str, float]:
    """Rate of every port as the probe measured it, by port.

    at_once_bps: what this box carries besides everything else; so many ports are filled together.
    """
    plan = network.plan
    ends = list(plan.ports.values())
    by_port = {end.port: end for end in ends}
    batches: list[list[list[str]]] = [[]]
    filled_bps = 0.0
    for end in ends:
        neighbour = by_port[Port(end.port.peer, end.port.node)]
        here = [end.namespace, end.device, end.address]
        if batches[-1] and filled_bps + end.shape.rate_bps > at_once_bps:
            batches.append([])
            filled_bps = 0.0
        batches[-1].append([*here, neighbour.namespace, neighbour.address])
        filled_bps += end.shape.rate_bps
    specification = {
        "duration_s": PROBE_S,
        "dscp": next(iter(plan.job_dscp.values())),
        "window_bytes": common_window_bytes(plan),
        "congestion_control": _PROBE_CONGESTION_CONTROL,
        "batches": batches,
    }
    probe = session.start("probe", specification)
    try:
        report = probe.receive()
    finally:
        probe.close()
    if report is None:
        raise EmulationError(f"the calibration of the links ended early: {session.explain()}")
    return {str(end.port): rate for end, rate in zip(ends, report["rates_bps"], strict=True)}


def start_sampler(
    session: Session, network: PlannedNetwork, interval_s: float = SAMPLE_INTERVAL_S
) -> MessageSocket:
    """A sampler of every port of ``network``, ready when this returns."""
    devices: dict[str, list[str]] = {}
    for end in network.plan.ports.values():
        devices.setdefault(end.namespace, []).append(end.device)
    marked = [
        [end.namespace, end.device]
        for end in network.plan.ports.values()
        if end.marker is not None and network.plan.marking is Marking.MARKER
    ]
    specification = {
        "interval_s": interval_s,
        "namespaces": devices,
        "markers": marked,
        "red": network.plan.marking is Marking.RED,
    }
    sampler = session.start("sampler", specification)
    if sampler.receive() is None:
        raise EmulationError(f"the sampler ended early: {session.explain()}")
    return sampler


def stop_sampler(sampler: MessageSocket, session: Session) -> Message:
    """The report of ``sampler``, with a last sample of every port."""
    with contextlib.suppress(OSError):  # it is gone: then it has no report either
        sampler.send({"do": "stop"})
    report = sampler.receive()
    if report is None:
        raise EmulationError(f"the sampler ended early: {session.explain()}")
    return report
