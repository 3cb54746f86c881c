"""The network code: build, read back, count what flows, remove."""

from __future__ import annotations

import socket
from typing import Any

from emulator.streams import configure_connection
from netshaper.apply import build, existing_namespaces, remove_namespaces
from netshaper.namespaces import inside_namespace
from netshaper.netlink import NetlinkSocket
from netshaper.plan import NetworkPlan, plan_network
from netshaper.readback import check_network
from netshaper.shaping import window_bytes
from traces.cluster import Port, Sharing, dumbbell

_RATE_BPS = 50e9
_RATE_DIVISOR = 5000.0
_PAYLOAD_BYTES = 100_000
_JOBS = ("one", "two")


def network() -> dict[str, Any]:
    """A port per job class: bytes of the first job are counted in its class and nowhere else."""
    plan = _plan("guestnet", Sharing.FAIR)
    before = existing_namespaces()
    try:
        build(plan)
        check_network(plan)
        made = existing_namespaces() - before
        flow = _flow(plan, "one")
    finally:
        remove_namespaces(plan.namespaces.values())
    return {
        "planned": sorted(plan.namespaces.values()),
        "made": sorted(made),
        "left": sorted(existing_namespaces() - before),
        "payload_bytes": _PAYLOAD_BYTES,
        **flow,
    }


def shared_queue() -> dict[str, Any]:
    """One queue for all jobs is built, read back and removed."""
    plan = _plan("guestfifo", Sharing.FIFO)
    before = existing_namespaces()
    try:
        build(plan)
        check_network(plan)
    finally:
        remove_namespaces(plan.namespaces.values())
    return {"left": sorted(existing_namespaces() - before)}


def _plan(run_id: str, sharing: Sharing) -> NetworkPlan:
    cluster = dumbbell(2, 2, _RATE_BPS, sharing=sharing)
    return plan_network(run_id, "n0", cluster, _JOBS, _RATE_DIVISOR, connections=4)


def _flow(plan: NetworkPlan, job: str) -> dict[str, Any]:
    """Send from left0 to right0 for ``job``; what the port between the switches counted."""
    end = plan.ports[Port("switch-left", "switch-right")]
    reader = NetlinkSocket(end.namespace)
    try:
        index = reader.links()[end.device].index
        link_before, classes_before = reader.links()[end.device], reader.classes(index)
        _send(plan, plan.job_dscp[job])
        link_after, classes_after = reader.links()[end.device], reader.classes(index)
    finally:
        reader.close()
    return {
        "link_sent_bytes": link_after.sent_bytes - link_before.sent_bytes,
        "class_sent_bytes": {
            name: classes_after[minor].sent_bytes - classes_before[minor].sent_bytes
            for name, minor in plan.job_classes.items()
        },
        "dropped_packets": sum(c.dropped_packets for c in classes_after.values()),
    }


def _send(plan: NetworkPlan, dscp: int) -> None:
    specification = {
        "congestion_control": "cubic",
        "window_bytes": window_bytes(_RATE_BPS / _RATE_DIVISOR),
        "dscp": dscp,
    }
    with inside_namespace(plan.namespaces["right0"]):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with inside_namespace(plan.namespaces["left0"]):
        sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with listener, sender:
        for connection in (listener, sender):
            configure_connection(connection, specification)
            connection.settimeout(30)
        listener.bind((plan.server_addresses["right0"], 0))
        listener.listen(1)
        sender.bind((plan.server_addresses["left0"], 0))
        sender.connect(listener.getsockname())
        receiver, _ = listener.accept()
        with receiver:
            receiver.settimeout(30)
            left = _PAYLOAD_BYTES
            while left > 0:  # a window at a time: one thread plays both ends
                sent = sender.send(bytes(min(left, 8192)))
                received = 0
                while received < sent:
                    received += len(receiver.recv(8192))
                left -= sent
