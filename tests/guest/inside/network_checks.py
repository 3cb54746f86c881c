"""The network code: build, read back, count what flows, remove."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
from pathlib import Path
from typing import Any

from emulator.streams import configure_connection
from netshaper.apply import build, existing_namespaces, remove_namespaces, run_commands
from netshaper.disciplines import SHARED_CLASS, JobTraffic
from netshaper.ecn.capability import probe_marking
from netshaper.ecn.loader import MarkReader, attach_marker, check_marker
from netshaper.ecn.red import decode_red, red_words
from netshaper.ecn.virtual_queue import MarkerSettings
from netshaper.namespaces import inside_namespace
from netshaper.netlink import NetlinkSocket
from netshaper.plan import Command, NetworkPlan, PlannedPort, plan_network
from netshaper.readback import check_network
from netshaper.shaping import window_bytes
from traces.cluster import Port, Sharing, dumbbell

_RATE_BPS = 50e9
_RATE_DIVISOR = 5000.0
_PAYLOAD_BYTES = 100_000
_JOBS = ("one", "two")
_THRESHOLD_BYTES = 20_000
_DATAGRAMS = 60
_SLOW_DIVISOR = 50_000.0  # a datagram takes 8 ms: a burst is a queue, however slow the guest is
_ECT_0 = 0b10


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


def marking() -> dict[str, Any]:
    """Bursts past a ``red`` queue and past a marker: what each marked, what was received so."""
    support = probe_marking("guestecn")
    plan = _plan("guestecn", Sharing.FIFO, _SLOW_DIVISOR)
    before = existing_namespaces()
    try:
        build(plan)
        with_red = plan.ports[Port("left0", "switch-left")]
        _use_red(with_red)
        _burst(plan, "left0", "right0")
        with contextlib.closing(NetlinkSocket(with_red.namespace)) as reader:
            index = reader.links()[with_red.device].index
            kind, statistics = reader.own_statistics(index)[SHARED_CLASS]
        with_marker = plan.ports[Port("left1", "switch-left")]
        with _marker(with_marker) as marker:
            _burst(plan, "left1", "right1")
            counts = marker.counts()[0]
        received = {node: _received_marks(plan, node) for node in ("right0", "right1")}
    finally:
        remove_namespaces(plan.namespaces.values())
    return {
        "support": dataclasses.asdict(support),
        "datagrams": _DATAGRAMS,
        "kind": kind,
        "red": dataclasses.asdict(decode_red(statistics)),
        "marker": dataclasses.asdict(counts),
        "received": received,
        "left": sorted(existing_namespaces() - before),
    }


def _use_red(end: PlannedPort) -> None:
    shape = end.shape
    words = red_words(shape.rate_bps, _THRESHOLD_BYTES, shape.burst_bytes, shape.buffer_bytes)
    place = ("qdisc", "replace", "dev", end.device, "parent", f"1:{SHARED_CLASS:x}")
    run_commands([Command("tc", (*place, *words), end.namespace)])


def _marker(end: PlannedPort) -> MarkReader:
    shape = end.shape
    settings = MarkerSettings(
        shape.rate_bps, _THRESHOLD_BYTES, shape.burst_bytes, shape.buffer_bytes
    )
    attach_marker(end.namespace, end.device, settings)
    check_marker(end.namespace, end.device, settings)
    return MarkReader(end.namespace, end.device)


def _burst(plan: NetworkPlan, source: str, destination: str) -> None:
    """Datagrams that can be marked, sent at once; returns when all have come."""
    with inside_namespace(plan.namespaces[destination]):
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with inside_namespace(plan.namespaces[source]):
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with receiver, sender:
        receiver.bind((plan.addresses.server(destination), 0))
        receiver.settimeout(30)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, _ECT_0)
        sender.connect(receiver.getsockname())
        for _ in range(_DATAGRAMS):
            sender.send(bytes(1000))
        for _ in range(_DATAGRAMS):
            receiver.recv(1000)


def _received_marks(plan: NetworkPlan, node: str) -> int:
    with inside_namespace(plan.namespaces[node]):
        lines = Path("/proc/thread-self/net/netstat").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("IpExt:"))
    return int(values[names.index("InCEPkts")])


def _plan(run_id: str, sharing: Sharing, rate_divisor: float = _RATE_DIVISOR) -> NetworkPlan:
    cluster = dumbbell(2, 2, _RATE_BPS, sharing=sharing)
    jobs = [JobTraffic(job) for job in _JOBS]
    return plan_network(run_id, "n0", cluster, jobs, rate_divisor, connections=4)


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
            for name, minor in end.classes.of_job.items()
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
        listener.bind((plan.addresses.server("right0"), 0))
        listener.listen(1)
        sender.bind((plan.addresses.server("left0"), 0))
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
