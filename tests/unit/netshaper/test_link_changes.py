"""From an event to the commands that change a link and keep its queues."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netshaper.disciplines import JobTraffic
from netshaper.ecn.virtual_queue import LEAST_RATE_BPS
from netshaper.link_changes import DOWN_SHARE, PlannedChange, delayed_ports, plan_changes
from netshaper.plan import NetworkPlan, plan_network
from traces.cluster import Link, Port, Sharing, dumbbell
from traces.errors import BadInputError
from traces.link_events import Change, LinkEvent

CLUSTER = dumbbell(1, 1, 1e9)
RIGHT = Port("switch-left", "switch-right")
LINK = CLUSTER.link(RIGHT)
JOBS = (JobTraffic("one"), JobTraffic("two"))
DIVISOR = 10.0


def event(
    change: Change, rate_bps: float, value: float = 0.0, at_s: float = 1.0, link: Link = LINK
) -> LinkEvent:
    return LinkEvent(at_s, link, change, value, rate_bps)


def planned(
    *events: LinkEvent, sharing: Sharing = Sharing.FAIR
) -> tuple[NetworkPlan, tuple[PlannedChange, ...]]:
    cluster = replace(CLUSTER, sharing=sharing)
    delayed = delayed_ports(events)
    plan = plan_network("run1", "n0", cluster, JOBS, DIVISOR, 4, delayed=delayed)
    return plan, plan_changes(plan, cluster, events, JOBS, DIVISOR)


def test_a_rate_is_changed_at_the_root_and_every_leaf_of_both_ports() -> None:
    _, (change,) = planned(event(Change.RATE, 0.25e9, 0.25e9))
    bucket = "ceil 25000000bit burst 1514 cburst 1514 quantum 1514"
    port = "class change dev eth1 parent"
    left = "tc -n roundelay-run1-n0-switch-left"
    assert [str(command) for command in change.commands if "left" in str(command)] == [
        f"{left} {port} 1: classid 1:1 htb rate 25000000bit {bucket}",
        f"{left} {port} 1:1 classid 1:10 htb prio 0 rate 12500000bit {bucket}",
        f"{left} {port} 1:1 classid 1:11 htb prio 0 rate 12500000bit {bucket}",
        f"{left} {port} 1:1 classid 1:2 htb prio 7 rate 25000bit {bucket}",
    ]
    assert len(change.commands) == 8


@pytest.mark.parametrize("sharing", Sharing)
def test_a_change_says_the_same_as_the_plan_of_a_network_with_that_rate(sharing: Sharing) -> None:
    _, (change,) = planned(event(Change.RATE, 0.25e9, 0.25e9), sharing=sharing)
    links = tuple(replace(x, rate_bps=0.25e9) if x == LINK else x for x in CLUSTER.links)
    cluster = replace(CLUSTER, links=links, sharing=sharing)
    other = plan_network("run1", "n0", cluster, JOBS, DIVISOR, 4)
    places = {(end.namespace, end.device) for end in change.ends}
    expected = {
        str(command).replace("class add", "class change")
        for command in other.commands
        if command.words[:2] == ("class", "add")
        and (command.namespace, command.words[3]) in places
        and "1:3" not in command.words
    }
    assert {str(command) for command in change.commands} == expected


def test_a_link_that_is_down_lets_a_hundredth_through_and_comes_up_with_the_last_rate() -> None:
    _, changes = planned(
        event(Change.DOWN, 0.0),
        event(Change.RATE, 0.0, 0.5e9),
        event(Change.UP, 0.5e9),
    )
    rates = [change.ends[0].shape.rate_bps for change in changes]
    assert rates == [1e8 * DOWN_SHARE, 0.5e8 * DOWN_SHARE, 0.5e8]


def test_queues_and_buffers_stay() -> None:
    plan, changes = planned(event(Change.DOWN, 0.0), event(Change.UP, 1e9))
    for change in changes:
        assert {command.words[:2] for command in change.commands} == {("class", "change")}
        for end in change.ends:
            assert end.shape.buffer_bytes == plan.ports[end.port].shape.buffer_bytes
    assert changes[1].ends[0] == plan.ports[RIGHT]


def test_latency_changes_a_queue_that_was_built_for_it() -> None:
    plan, (change,) = planned(event(Change.LATENCY, 1e9, 200e-6))
    end = plan.ports[RIGHT]
    limit = 2 * (end.shape.buffer_bytes // 1514 + 1)
    built = [str(each) for each in plan.commands if "netem" in each.words]
    assert len(built) == len(change.commands) == 6
    assert all(text.endswith(f"netem limit {limit} delay 0us") for text in built)
    for command in change.commands:
        assert command.words[:3] == ("qdisc", "change", "dev")
        assert str(command).endswith(f"netem limit {limit} delay 200us")
    assert [each.delay_s for each in change.ends] == [200e-6, 200e-6]


def test_a_rate_keeps_the_latency_and_a_latency_the_rate() -> None:
    _, changes = planned(
        event(Change.DOWN, 0.0),
        event(Change.LATENCY, 0.0, 1e-3),
        event(Change.UP, 1e9),
    )
    assert [change.ends[0].delay_s for change in changes] == [0.0, 1e-3, 1e-3]
    assert [change.ends[0].shape.rate_bps for change in changes] == [1e6, 1e6, 1e8]


def test_without_events_nothing_is_planned_and_no_port_is_delayed() -> None:
    plan, changes = planned()
    assert changes == ()
    assert all(end.delay_s is None for end in plan.ports.values())


def marked(*events: LinkEvent, threshold_bytes: int = 30_000) -> tuple[PlannedChange, ...]:
    plan = plan_network(
        "run1", "n0", CLUSTER, JOBS, DIVISOR, 4, ecn_threshold_bytes=threshold_bytes
    )
    return plan_changes(plan, CLUSTER, events, JOBS, DIVISOR)


def test_a_marker_follows_the_rate_and_keeps_its_threshold() -> None:
    changes = marked(event(Change.RATE, 0.5e9, 0.5e9), event(Change.LATENCY, 0.5e9, 1e-3))
    first, second = (change.ends[0].marker for change in changes)
    was = changes[0].before[0].marker
    assert was is not None
    assert first == second == replace(was, rate_bps=50_000_000)
    assert changes[1].before == changes[0].ends


def test_a_link_that_is_down_has_the_slowest_marker_where_it_would_need_a_slower_one() -> None:
    (change,) = marked(event(Change.RATE, 0.5e9, 0.5e9), event(Change.DOWN, 0.0))[1:]
    assert change.ends[0].shape.rate_bps == 500_000
    marker = change.ends[0].marker
    assert marker is not None
    assert marker.rate_bps == LEAST_RATE_BPS


def test_a_rate_whose_bucket_the_threshold_does_not_exceed_is_refused() -> None:
    with pytest.raises(BadInputError, match="lets through at once") as raised:
        marked(event(Change.RATE, 100e9, 100e9), threshold_bytes=4000)
    assert raised.value.key == "transport.ecn_threshold"
