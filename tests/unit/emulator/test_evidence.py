"""From counter samples to link rows and evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emulator.evidence import link_rows, port_evidence, samples_by_port, switch_evidence
from emulator.link_changer import AppliedChange
from emulator.verdict import RateChange
from netshaper.disciplines import (
    FIRST_JOB_CLASS,
    ROOT_CLASS,
    SHARED_CLASS,
    UNCLASSIFIED_CLASS,
    JobTraffic,
)
from netshaper.ecn.marking import Marking
from netshaper.link_changes import plan_changes
from netshaper.plan import NetworkPlan, plan_network
from traces.cluster import Cluster, Port, Sharing, dumbbell
from traces.link_events import Change, LinkEvent

DIVISOR = 10.0
QUIET = [0, 0, 0, 0]


def network(sharing: Sharing = Sharing.FAIR, jobs: int = 2) -> tuple[Cluster, NetworkPlan]:
    cluster = dumbbell(1, 1, 1e9, sharing=sharing)
    traffic = [JobTraffic(f"job{n}") for n in range(jobs)]
    return cluster, plan_network("run1", "n0", cluster, traffic, DIVISOR, 4)


def sample(
    plan: NetworkPlan, before: float, after: float, **counters: dict[int, list[int]]
) -> list[list[Any]]:
    """One reading of every port; ``counters`` by node_peer, JSON's text for class numbers."""
    rows = []
    for port, end in plan.ports.items():
        name = f"{port.node}_{port.peer}".replace("-", "")
        by_class = {ROOT_CLASS: QUIET, **dict.fromkeys(end.classes.of_job.values(), QUIET)}
        by_class |= counters.get(name, {})
        text = {str(minor): values for minor, values in by_class.items()}
        rows.append([before, after, end.namespace, end.device, text, {}])
    return rows


def rows_of(port: str, rows: list[Any]) -> list[Any]:
    return [row for row in rows if row.port == port]


def test_samples_are_sorted_by_port() -> None:
    _, plan = network()
    found = samples_by_port(sample(plan, 1.0, 1.5) + sample(plan, 2.0, 2.5))
    assert len(found) == len(plan.ports)
    for series in found.values():
        assert [one.t_s for one in series] == [1.25, 2.25]
        assert set(series[0].counters) >= {ROOT_CLASS, FIRST_JOB_CLASS}


def test_rows_are_the_differences_in_unscaled_units() -> None:
    _, plan = network()
    job0, job1 = FIRST_JOB_CLASS, FIRST_JOB_CLASS + 1
    samples = sample(plan, 100.0, 100.0, left0_switchleft={job0: [1000, 1, 0, 0], job1: QUIET})
    samples += sample(
        plan, 102.0, 102.0, left0_switchleft={job0: [6000, 4, 0, 77], job1: [500, 1, 2, 0]}
    )
    rows = rows_of(
        "left0->switch-left", link_rows("arm", "n0", plan, samples_by_port(samples), 99.0, DIVISOR)
    )
    assert [(row.job, row.rate_bps) for row in rows] == [
        ("job0", 5000 * 8 / 2 * DIVISOR),
        ("job1", 500 * 8 / 2 * DIVISOR),
    ]
    assert {row.t_s for row in rows} == {3.0}
    assert {row.capacity_bps for row in rows} == {1e9}
    assert [row.backlog_bytes for row in rows] == [770.0, 0.0]
    assert [row.dropped_packets for row in rows] == [0, 2]
    assert {(row.arm, row.network) for row in rows} == {("arm", "n0")}


def test_a_rate_is_over_the_time_between_the_middles_of_two_readings() -> None:
    _, plan = network(jobs=1)
    samples = sample(plan, 0.0, 2.0)
    samples += sample(plan, 3.0, 7.0, left0_switchleft={FIRST_JOB_CLASS: [100, 1, 0, 0]})
    (row,) = rows_of(
        "left0->switch-left", link_rows("arm", "n0", plan, samples_by_port(samples), 0.0, 1.0)
    )
    assert (row.rate_bps, row.t_s) == (100 * 8 / 4, 5.0)


def test_rows_add_up_to_what_was_sent() -> None:
    _, plan = network(jobs=1)
    counts = [0, 10, 10, 5000, 9000]
    samples: list[list[Any]] = []
    for number, count in enumerate(counts):
        by_class = {FIRST_JOB_CLASS: [count, 0, 0, 0]}
        samples += sample(plan, number * 0.5, number * 0.5, left0_switchleft=by_class)
    rows = rows_of(
        "left0->switch-left", link_rows("arm", "n0", plan, samples_by_port(samples), 0.0, DIVISOR)
    )
    assert len(rows) == len(counts) - 1
    assert sum(row.rate_bps * 0.5 / 8 for row in rows) == pytest.approx(9000 * DIVISOR)


def test_a_shared_queue_does_not_tell_jobs_apart() -> None:
    _, plan = network(Sharing.FIFO)
    samples = sample(plan, 0.0, 0.0)
    samples += sample(plan, 1.0, 1.0, left0_switchleft={SHARED_CLASS: [100, 1, 0, 0]})
    (row,) = rows_of(
        "left0->switch-left", link_rows("arm", "n0", plan, samples_by_port(samples), 0.0, 1.0)
    )
    assert (row.job, row.rate_bps) == (None, 800.0)


def test_one_job_in_a_shared_queue_is_that_job() -> None:
    _, plan = network(Sharing.FIFO, jobs=1)
    samples = sample(plan, 0.0, 0.0) + sample(plan, 1.0, 1.0)
    assert {
        row.job for row in link_rows("arm", "n0", plan, samples_by_port(samples), 0.0, 1.0)
    } == {"job0"}


def test_port_evidence_is_scaled_and_counts_leaves_once() -> None:
    _, plan = network(jobs=1)
    first = {ROOT_CLASS: [100, 1, 5, 0], FIRST_JOB_CLASS: [100, 1, 5, 0], UNCLASSIFIED_CLASS: QUIET}
    last = {
        ROOT_CLASS: [900, 9, 8, 0],
        FIRST_JOB_CLASS: [840, 8, 7, 0],
        UNCLASSIFIED_CLASS: [60, 1, 1, 0],
    }
    samples = sample(plan, 1.0, 1.1, left0_switchleft=first)
    samples += sample(plan, 2.0, 2.2, left0_switchleft=last)
    calibrated = {str(port): 1e8 + number for number, port in enumerate(plan.ports)}
    found = {one.port: one for one in port_evidence(plan, samples_by_port(samples), calibrated)}
    port = found["roundelay-run1-n0-left0 left0->switch-left"]
    assert len(found) == len(plan.ports)
    assert port.rate_bps == 1e8
    assert port.calibrated_bps == 1e8
    assert (port.before_s, port.after_s) == ([1.0, 2.0], [1.1, 2.2])
    assert port.sent_bytes == [100, 900]
    assert port.dropped_packets == 2 + 1  # the root counts the same ones again
    assert port.unclassified_bytes == 60


@pytest.mark.parametrize(
    ("sharing", "leaves"), [(Sharing.FAIR, 2), (Sharing.PRIORITY, 2), (Sharing.FIFO, 1)]
)
def test_every_leaf_may_spend_a_bucket_beside_the_ports(sharing: Sharing, leaves: int) -> None:
    _, plan = network(sharing)
    calibrated = {str(port): 1e8 for port in plan.ports}
    found = port_evidence(plan, samples_by_port(sample(plan, 0.0, 0.0)), calibrated)
    for evidence, end in zip(found, plan.ports.values(), strict=True):
        assert evidence.burst_bytes == end.shape.burst_bytes * (1 + leaves)


def switch_samples(sent: int, backlog: int, dropped: int = 0) -> tuple[Cluster, NetworkPlan, Any]:
    cluster, plan = network(jobs=1)
    job = FIRST_JOB_CLASS
    samples = sample(plan, 0.0, 0.0, switchleft_switchright={job: [50, 1, 0, 7]})
    samples += sample(
        plan,
        1.0,
        1.0,
        switchleft_switchright={
            ROOT_CLASS: [10**6, 1, 9, 9],  # the root repeats its leaves
            job: [50 + sent, 1, dropped, 7 + backlog],
        },
    )
    return cluster, plan, samples


def received(plan: NetworkPlan, came_in: int) -> dict[str, dict[str, list[int]]]:
    devices = {namespace: {"lo": [0, 10**6]} for namespace in plan.namespaces.values()}
    for end in plan.ports.values():
        devices[end.namespace][end.device] = [100, 100]
    end = plan.ports[Port("switch-left", "left0")]
    devices[end.namespace][end.device] = [100, 100 + came_in]
    return devices


def test_a_switch_gives_out_what_came_in() -> None:
    cluster, plan, samples = switch_samples(sent=900, backlog=100)
    left, right = switch_evidence(
        cluster, plan, samples_by_port(samples), received(plan, came_in=1000)
    )
    assert (left.switch, right.switch) == ("switch-left", "switch-right")
    assert (left.received_bytes, left.sent_bytes, left.backlog_bytes) == (1000, 900, 100)
    assert (right.received_bytes, right.sent_bytes, right.backlog_bytes) == (0, 0, 0)


def test_a_switchs_drops_are_counted() -> None:
    cluster, plan, samples = switch_samples(sent=900, backlog=0, dropped=2)
    left, _ = switch_evidence(cluster, plan, samples_by_port(samples), received(plan, came_in=1000))
    assert left.dropped_packets == 2


def test_capacity_and_evidence_follow_the_changes_of_a_link() -> None:
    cluster, plan = network(jobs=1)
    middle = Port("switch-left", "switch-right")
    events = (
        LinkEvent(1.0, cluster.link(middle), Change.DOWN, 0.0, 0.0),
        LinkEvent(2.0, cluster.link(middle), Change.UP, 0.0, 1e9),
        LinkEvent(2.5, cluster.link(middle), Change.LATENCY, 1e-3, 1e9),
    )
    changes = plan_changes(plan, cluster, events, [JobTraffic("job0")], DIVISOR)
    applied = [
        AppliedChange("n0", change, 100 + change.event.at_s, 100.1 + change.event.at_s)
        for change in changes
    ]
    samples = [row for t_s in (100.5, 101.5, 102.5) for row in sample(plan, t_s, t_s)]
    series = samples_by_port(samples)
    rows = link_rows("arm", "n0", plan, series, 100.0, DIVISOR, applied)
    assert [row.capacity_bps for row in rows_of(str(middle), rows)] == [0.0, 1e9]
    assert {row.capacity_bps for row in rows_of("left0->switch-left", rows)} == {1e9}
    calibrated = {str(port): 1e8 for port in plan.ports}
    evidence = {each.port: each for each in port_evidence(plan, series, calibrated, applied)}
    changed = evidence[f"{plan.ports[middle].namespace} {middle}"]
    assert changed.rate_bps == 1e8
    assert changed.changes == [RateChange(101.0, 101.1, 1e6), RateChange(102.0, 102.1, 1e8)]
    assert not evidence[f"{plan.namespaces['left0']} left0->switch-left"].changes


def test_marks_are_differences_and_unknown_where_nothing_could_mark() -> None:
    _, plan = network(jobs=2)
    samples = sample(plan, 0.0, 0.0) + sample(plan, 1.0, 1.0) + sample(plan, 2.0, 2.0)
    place = plan.ports[Port("left0", "switch-left")]
    for row, (by_dscp, by_class) in zip(
        [row for row in samples if row[2:4] == [place.namespace, place.device]],
        [({}, {}), ({"1": 5}, {}), ({"1": 9}, {str(FIRST_JOB_CLASS + 1): 3})],
        strict=True,
    ):
        row[5] = {"dscp": by_dscp, "class": by_class}
    series = samples_by_port(samples)
    rows = rows_of(str(place.port), link_rows("arm", "n0", plan, series, 0.0, DIVISOR))
    assert [(row.job, row.marked_packets) for row in rows] == [
        ("job0", 5), ("job1", 0), ("job0", 4), ("job1", 3),
    ]  # fmt: skip
    unmarked = replace(plan, marking=Marking.UNAVAILABLE)
    found = link_rows("arm", "n0", unmarked, series, 0.0, DIVISOR)
    assert {row.marked_packets for row in found} == {None}
