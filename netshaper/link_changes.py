"""From an event of a scenario to the tc commands that change a link while it carries traffic. Pure.

``tc class change`` keeps the queues and the counters of a port; so does a change of a netem queue.

A link that is down keeps its queues too, and what stands in them goes on when it comes up: a
lossless fabric pauses, it does not drop. ``ip link set down`` would empty the queues and forget
routes and neighbours, and a filter that drops would leave the wait to TCP's timers, which double.
HTB knows no rate of nothing, and a class pays for a packet at the rate at which it was sent: at a
rate of next to nothing a single packet would stop a class for a minute, whatever its rate is by
then. So a link that is down has a hundredth of its rate: it starts again at most a hundred
packet times late, and the packets that trickle keep TCP from timing out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from netshaper.classes import all_leaves, leaf_class_words, root_class_words
from netshaper.delay import netem_words
from netshaper.disciplines import JobTraffic, PortClasses, port_classes
from netshaper.ecn.threshold import marker_settings
from netshaper.ecn.virtual_queue import LEAST_RATE_BPS, MarkerSettings
from netshaper.plan import Command, NetworkPlan, PlannedPort
from netshaper.shaping import PortShape, burst_bytes
from traces.cluster import Cluster, Port
from traces.link_events import Change, LinkEvent

DOWN_SHARE = 0.01
"""Of its rate, what a link that is down lets through."""


@dataclass(frozen=True)
class PlannedChange:
    """An event on one network: its commands, and both ports as they are before and afterwards.

    A port's marker is changed besides, where it has one: see netshaper.ecn.loader. A ``red`` queue
    stays as it is, for its threshold is one of bytes.
    """

    event: LinkEvent
    before: tuple[PlannedPort, PlannedPort]
    ends: tuple[PlannedPort, PlannedPort]
    commands: tuple[Command, ...]


def plan_changes(
    plan: NetworkPlan,
    cluster: Cluster,
    events: Sequence[LinkEvent],
    jobs: Sequence[JobTraffic],
    rate_divisor: float,
) -> tuple[PlannedChange, ...]:
    """What each of ``events`` takes on the network of ``plan``, after those before it.

    The other arguments are those that ``plan`` was made of; buffers stay what they are there.
    Raises BadInputError, with a key of the scenario, where a marker cannot have a link's new rate.
    """
    ends = dict(plan.ports)
    rates = {link: link.rate_bps for link in cluster.links}
    changes = []
    for event in events:
        if event.change is Change.RATE:
            rates[event.link] = event.value
        share = 1.0 if event.rate_bps > 0 else DOWN_SHARE
        rate_bps = rates[event.link] * share / rate_divisor
        before = (ends[event.ports[0]], ends[event.ports[1]])
        for port in event.ports:
            ends[port] = _changed(ends[port], event, rate_bps, cluster, jobs)
        pair = (ends[event.ports[0]], ends[event.ports[1]])
        commands = tuple(command for end in pair for command in _commands(end, event.change))
        changes.append(PlannedChange(event, before, pair, commands))
    return tuple(changes)


def delayed_ports(events: Sequence[LinkEvent]) -> frozenset[Port]:
    """The ports whose latency some event changes."""
    delays = (event for event in events if event.change is Change.LATENCY)
    return frozenset(port for event in delays for port in event.ports)


def _changed(
    end: PlannedPort,
    event: LinkEvent,
    rate_bps: float,
    cluster: Cluster,
    jobs: Sequence[JobTraffic],
) -> PlannedPort:
    if event.change is Change.LATENCY:
        return replace(end, delay_s=event.value)
    shape = replace(end.shape, rate_bps=round(rate_bps), burst_bytes=burst_bytes(rate_bps))
    classes = port_classes(cluster.sharing_at(end.port), shape, jobs)
    return replace(end, shape=shape, classes=classes, marker=_marker(end.marker, shape, classes))


def _marker(
    marker: MarkerSettings | None, shape: PortShape, classes: PortClasses
) -> MarkerSettings | None:
    """Of a port with a new shape. Where a link is down and no marker can be as slow, the slowest is
    taken: it marks too little of the little that trickles through."""
    if marker is None:
        return None
    marked = replace(shape, rate_bps=max(shape.rate_bps, LEAST_RATE_BPS))
    return marker_settings(marked, classes, marker.threshold_bytes, marker.unshaped_below_bytes)


def _commands(end: PlannedPort, change: Change) -> list[Command]:
    leaves = all_leaves(end.shape, end.classes)
    if change is Change.LATENCY:
        queue = netem_words(end.delay_s or 0.0, end.shape.buffer_bytes)
        words = [
            ("qdisc", "change", "dev", end.device, "parent", f"1:{leaf.minor:x}", *queue)
            for leaf in leaves
        ]
    else:
        words = [
            root_class_words("change", end.device, end.shape),
            *(leaf_class_words("change", end.device, end.shape, leaf) for leaf in leaves),
        ]
    return [Command("tc", each, end.namespace) for each in words]
