"""Reads back what the kernel holds and compares it with the plan. A difference is an error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence

from netshaper.disciplines import ACKNOWLEDGEMENT_CLASS, ROOT_CLASS, UNCLASSIFIED_CLASS, Leaf
from netshaper.ecn.loader import check_marker
from netshaper.ecn.marking import Marking
from netshaper.netlink import ClassCounters, NetlinkSocket
from netshaper.plan import NetworkPlan, PlannedPort
from netshaper.shaping import PortShape
from traces.errors import EmulationError

PSCHED_TICK_S = 64e-9
# tc keeps a bucket as the time it takes to send, in whole microseconds rounded down.
_BUCKET_ROUNDING_S = 1e-6 + PSCHED_TICK_S


def compare_class(
    found: ClassCounters, shape: PortShape, leaf: Leaf
) -> list[tuple[str, object, object]]:
    """(setting, planned, found) of each setting of a shaped class that differs. Pure."""
    differences: list[tuple[str, object, object]] = []
    rate_bytes_per_s = leaf.rate_bps // 8
    if found.rate_bytes_per_s != rate_bytes_per_s:
        differences.append(("rate (bytes/s)", rate_bytes_per_s, found.rate_bytes_per_s))
    ceil = shape.rate_bps // 8
    if found.ceil_bytes_per_s != ceil:
        differences.append(("ceil (bytes/s)", ceil, found.ceil_bytes_per_s))
    if found.quantum_bytes != leaf.quantum_bytes:
        differences.append(("quantum (bytes)", leaf.quantum_bytes, found.quantum_bytes))
    if found.turn != leaf.turn:
        differences.append(("prio", leaf.turn, found.turn))
    planned_s = shape.burst_bytes / rate_bytes_per_s
    found_s = found.burst_ticks * PSCHED_TICK_S
    if abs(planned_s - found_s) > _BUCKET_ROUNDING_S:
        found_bytes = found_s * rate_bytes_per_s
        differences.append(("burst (bytes)", shape.burst_bytes, round(found_bytes)))
    return differences


def check_network(plan: NetworkPlan) -> None:
    """Compare every port of the kernel with ``plan``; EmulationError with both values."""
    differences = []
    for namespace in sorted(set(plan.namespaces.values())):
        reader = NetlinkSocket(namespace)
        try:
            links = reader.links()
            for port in plan.ports.values():
                if port.namespace == namespace:
                    differences += _check_port(port, plan.marking, reader, links[port.device].index)
        finally:
            reader.close()
    _refuse(differences)


def check_ports(ports: Iterable[PlannedPort], marking: Marking) -> None:
    """Compare single ports with what they should be; as check_network."""
    differences = []
    for port in ports:
        with contextlib.closing(NetlinkSocket(port.namespace)) as reader:
            index = reader.links()[port.device].index
            differences += _check_port(port, marking, reader, index)
    _refuse(differences)


def _refuse(differences: Sequence[str]) -> None:
    if differences:
        raise EmulationError(
            "the kernel holds other settings than planned: " + "; ".join(differences[:5])
        )


def _check_port(
    port: PlannedPort, marking: Marking, reader: NetlinkSocket, device_index: int
) -> list[str]:
    where = f"{port.namespace} {port.device}"
    classes = reader.classes(device_index)
    whole = Leaf(ROOT_CLASS, port.shape.rate_bps, port.shape.quantum_bytes, 0)
    planned = {leaf.minor: leaf for leaf in (whole, *port.classes.leaves)}
    unexpected = set(classes) - set(planned) - {ACKNOWLEDGEMENT_CLASS, UNCLASSIFIED_CLASS}
    differences = [f"{where} has the class 1:{minor:x}, not planned" for minor in unexpected]
    queues = reader.queues(device_index)
    limits = {queue.parent_minor: queue.limit for queue in queues}
    kinds = {queue.parent_minor: queue.kind for queue in queues}
    delays = {queue.parent_minor: queue.delay_ticks for queue in queues}
    marked_by_red = port.marker is not None and marking is Marking.RED
    if port.marker is not None and marking is Marking.MARKER:
        check_marker(port.namespace, port.device, port.marker)
    for minor, leaf in planned.items():
        if minor not in classes:
            differences.append(f"{where} lacks the class 1:{minor:x}")
            continue
        for setting, wanted, found in compare_class(classes[minor], port.shape, leaf):
            differences.append(f"{where} 1:{minor:x} {setting}: planned {wanted}, found {found}")
        if minor == ROOT_CLASS:
            continue
        if port.delay_s is not None:
            differences += _check_delay(f"{where} 1:{minor:x}", port.delay_s, delays.get(minor))
        elif marked_by_red:
            if kinds.get(minor) != "red":
                differences.append(f"{where} 1:{minor:x}: planned red, found {kinds.get(minor)}")
        elif limits.get(minor) != port.shape.buffer_bytes:
            found_limit = limits.get(minor)
            differences.append(
                f"{where} 1:{minor:x} limit: planned {port.shape.buffer_bytes}, found {found_limit}"
            )
    return differences


def _check_delay(where: str, planned_s: float, found_ticks: int | None) -> list[str]:
    found_s = None if found_ticks is None else found_ticks * PSCHED_TICK_S
    # tc rounds to a microsecond.
    if found_s is not None and abs(found_s - planned_s) <= 1e-6:
        return []
    return [f"{where} delay (s): planned {planned_s:g}, found {found_s}"]
