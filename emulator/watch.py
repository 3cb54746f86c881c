"""The children that watch a network: the probe before a run, the sampler during it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from emulator.messages import Message, MessageSocket
from emulator.networks import PlannedNetwork, common_window_bytes
from emulator.session import Session
from netshaper.ecn.marking import Marking
from netshaper.plan import PlannedPort
from netshaper.shaping import FRAME_BYTES
from traces.cluster import Port
from traces.errors import EmulationError

SAMPLE_INTERVAL_S = 0.01

DRAIN_S = 0.2
"""Before the last sample, where jobs were ended in mid-transfer: what they had on its way has to be
somewhere, and counters of two ports are read one after the other."""

_PROBE_SHARE = 0.3
"""Of a box's budget, what the probe may fill at once. The budget counts hops of connections that
cross several; each of the probe's has two ends for a single hop."""

_LEAST_PROBE_S = 0.2
_PROBE_FRAMES = 600
"""That a port sends while it is probed, at least: one frame is 1 % of a slice."""

_PROBE_CONGESTION_CONTROL = "reno"  # every kernel has it, and windows are what limits a probe


def calibrate(session: Session, network: PlannedNetwork, budget_hop_bps: float) -> dict[str, float]:
    """Rate of every port as the probe measured it, by port. budget_hop_bps: see Budget."""
    plan = network.plan
    by_port = {end.port: end for end in plan.ports.values()}
    ends = sorted(by_port.values(), key=lambda end: end.shape.rate_bps)
    batches = _batches(ends, budget_hop_bps * _PROBE_SHARE)
    specification = {
        "dscp": next(iter(plan.job_dscp.values())),
        "window_bytes": common_window_bytes(plan),
        "congestion_control": _PROBE_CONGESTION_CONTROL,
        "batches": [
            {
                "duration_s": _duration_s(batch),
                "ports": [
                    _with_neighbour(end, by_port[Port(end.port.peer, end.port.node)])
                    for end in batch
                ],
            }
            for batch in batches
        ],
    }
    probe = session.start("probe", specification)
    try:
        report = probe.receive()
    finally:
        probe.close()
    if report is None:
        raise EmulationError(f"the calibration of the links ended early: {session.explain()}")
    return {str(end.port): rate for end, rate in zip(ends, report["rates_bps"], strict=True)}


def _batches(ends: Sequence[PlannedPort], at_once_bps: float) -> list[list[PlannedPort]]:
    """``ends`` in their order, as many together as ``at_once_bps`` allows, and at least one."""
    batches: list[list[PlannedPort]] = [[]]
    filled_bps = 0.0
    for end in ends:
        if batches[-1] and filled_bps + end.shape.rate_bps > at_once_bps:
            batches.append([])
            filled_bps = 0.0
        batches[-1].append(end)
        filled_bps += end.shape.rate_bps
    return batches


def _duration_s(batch: Sequence[PlannedPort]) -> float:
    """For how long ports are filled together: until the slowest has sent enough frames."""
    slowest_bps = min(end.shape.rate_bps for end in batch)
    return max(_PROBE_FRAMES * FRAME_BYTES * 8 / slowest_bps, _LEAST_PROBE_S)


def _with_neighbour(end: PlannedPort, neighbour: PlannedPort) -> list[str]:
    return [end.namespace, end.device, end.address, neighbour.namespace, neighbour.address]


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
