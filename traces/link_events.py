"""Changes of links at given times of a run: a rate, a link down and up, added latency. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from pydantic import Field, model_validator

from traces.cluster import Cluster, Link, Port
from traces.errors import BadInputError
from traces.quantities import DurationS, RateBps, format_duration, format_rate
from traces.scenario_file import Strict


class Change(StrEnum):
    """What an event does to a link. ``latency``: added to each direction, in place of the last."""

    RATE = "rate"
    DOWN = "down"
    UP = "up"
    LATENCY = "latency"


_KINDS = ", ".join(f"'{change}'" for change in Change)


class EventSpec(Strict):
    """One event: when (since the start of the arm), at which link, and one of the changes."""

    at: DurationS
    link: list[str] = Field(min_length=2, max_length=2, description="the nodes at its two ends")
    rate: RateBps | None = None
    down: Literal[True] | None = None
    up: Literal[True] | None = None
    latency: DurationS | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        """Those that were given."""
        return tuple(change for change in Change if getattr(self, change) is not None)

    @model_validator(mode="after")
    def _one_change(self) -> EventSpec:
        if len(self.changes) != 1:
            given = " and ".join(f"'{change}'" for change in self.changes)
            problem = f"an event of several kinds: {given}" if given else "an event of no kind"
            raise ValueError(f"{problem}|one of {_KINDS}")
        return self


@dataclass(frozen=True)
class LinkEvent:
    """A change of both ports of ``link`` at ``at_s``. value: the rate in bit/s, the latency in s.

    rate_bps: of the link from then on, 0 while it is down. A rate that is given to a link that is
    down is the one that it comes up with.
    """

    at_s: float
    link: Link
    change: Change
    value: float
    rate_bps: float

    @property
    def ports(self) -> tuple[Port, Port]:
        """Both directions of its link."""
        return self.link.ports

    def __str__(self) -> str:
        where = f"{self.link.a}-{self.link.b}"
        if self.change is Change.RATE:
            return f"{where} rate {format_rate(self.value)}"
        if self.change is Change.LATENCY:
            return f"{where} latency {format_duration(self.value)}"
        return f"{where} {self.change}"


def link_events(specs: Sequence[EventSpec], cluster: Cluster) -> tuple[LinkEvent, ...]:
    """The events of ``specs`` on ``cluster``, in their order, which must be that of their times.

    Raises BadInputError, with the key in a scenario. A link that goes down has to come up again,
    for a transfer that waits for it would never end.
    """
    rates = {link: link.rate_bps for link in cluster.links}
    down_since: dict[Link, int] = {}
    events: list[LinkEvent] = []
    for index, spec in enumerate(specs):
        link = _link(cluster, spec, index)
        (change,) = spec.changes
        name = f"the link {link.a}-{link.b}"
        if events and spec.at < events[-1].at_s:
            raise BadInputError(
                f"{format_duration(spec.at)} is before the event above it",
                allowed="events in the order of their times",
                key=f"events.{index}.at",
            )
        if change is Change.DOWN:
            if link in down_since:
                raise BadInputError(
                    f"{name} is down already", allowed="'up'", key=f"events.{index}.down"
                )
            down_since[link] = index
        elif change is Change.UP:
            if link not in down_since:
                raise BadInputError(
                    f"{name} is up already", allowed="'down'", key=f"events.{index}.up"
                )
            del down_since[link]
        elif change is Change.RATE:
            rates[link] = spec.rate or 0.0
        value = {Change.RATE: spec.rate, Change.LATENCY: spec.latency}.get(change) or 0.0
        rate_bps = 0.0 if link in down_since else rates[link]
        events.append(LinkEvent(spec.at, link, change, value, rate_bps))
    for link, index in down_since.items():
        raise BadInputError(
            f"the link {link.a}-{link.b} stays down: what waits for it would never end",
            allowed="an event later that takes it 'up'",
            key=f"events.{index}.down",
        )
    return tuple(events)


def _link(cluster: Cluster, spec: EventSpec, index: int) -> Link:
    try:
        return cluster.link(Port(spec.link[0], spec.link[1]))
    except KeyError:
        some = ", ".join(f"[{link.a}, {link.b}]" for link in cluster.links[:8])
        more = "" if len(cluster.links) <= 8 else f", ... ({len(cluster.links)} in all)"
        raise BadInputError(
            f"there is no link from {spec.link[0]!r} to {spec.link[1]!r}",
            allowed=some + more,
            key=f"events.{index}.link",
        ) from None


def last_up_s(events: Sequence[LinkEvent]) -> float:
    """When the last of the links that go down comes up; 0 where none goes down."""
    return max((event.at_s for event in events if event.change is Change.UP), default=0.0)


def fastest(cluster: Cluster, events: Sequence[LinkEvent]) -> Cluster:
    """``cluster`` with the greatest rate that each link ever has."""
    greatest = {link: link.rate_bps for link in cluster.links}
    for event in events:
        greatest[event.link] = max(greatest[event.link], event.rate_bps)
    if all(rate_bps == link.rate_bps for link, rate_bps in greatest.items()):
        return cluster
    links = tuple(replace(link, rate_bps=rate_bps) for link, rate_bps in greatest.items())
    return replace(cluster, links=links)
