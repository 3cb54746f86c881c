"""Which jobs meet where, and what each demands there."""

from __future__ import annotations

import pytest

from harness.scheduling.cassini import links
from harness.scheduling.cassini.links import (
    ClusterLinks,
    SharedLink,
    dedicated_curves,
    envelope,
    shared_links,
)
from tests.unit.builders import (
    GBIT,
    TOY_ALONE_S,
    TOY_COMPUTE_S,
    all_to_all_job,
    make_job,
    toy_cluster,
    toy_pair,
    toy_transfer,
)
from traces.cluster import Port, dumbbell
from traces.demand import Demand, DemandCurve, Pattern, Phase

MIDDLE = Port("switch-left", "switch-right")
BACK = Port(MIDDLE.peer, MIDDLE.node)


def one_link(found: list[SharedLink]) -> SharedLink:
    (link,) = found
    return link


def test_a_ring_of_two_uses_both_directions() -> None:
    cluster = toy_cluster()
    footprint = ClusterLinks(cluster).footprint(make_job("one"))
    assert {str(cluster.ports[position]) for position in footprint.ports} == {
        "left0->switch-left", "switch-left->switch-right", "switch-right->right0",
        "right0->switch-right", "switch-right->switch-left", "switch-left->left0",
    }  # fmt: skip
    assert len(footprint.curves) == 6


def test_the_dedicated_curve_is_the_jobs_demand_alone() -> None:
    (curve,) = dedicated_curves(toy_cluster(), make_job("one", start_s=5.0), [MIDDLE])
    assert curve.period_s == pytest.approx(TOY_ALONE_S)
    (phase,) = curve.phases
    assert (phase.start_s, phase.end_s) == pytest.approx((TOY_COMPUTE_S, TOY_ALONE_S))
    assert phase.rate_bps == GBIT


def test_several_flows_of_one_job_at_a_port_are_one_demand() -> None:
    (curve,) = dedicated_curves(toy_cluster(), all_to_all_job(), [MIDDLE])
    bits = sum((phase.end_s - phase.start_s) * phase.rate_bps for phase in curve.phases)
    assert bits == pytest.approx(4 * 5e6 / 3 * 8)
    assert all(phase.rate_bps <= GBIT * (1 + 1e-9) for phase in curve.phases)
    assert (curve.phases[0].start_s, curve.phases[0].rate_bps) == pytest.approx((0.05, GBIT))


def test_transfers_that_follow_each_other_are_one_phase() -> None:
    transfers = (toy_transfer(), toy_transfer())
    job = make_job("one", demand=Demand(TOY_COMPUTE_S, transfers))
    (curve,) = dedicated_curves(toy_cluster(), job, [MIDDLE])
    assert len(curve.phases) == 1


def test_both_directions_of_the_middle_link_are_one_group() -> None:
    link = one_link(shared_links(toy_cluster(), toy_pair()))
    assert link.jobs == ("one", "two")
    assert set(link.ports) == {MIDDLE, BACK}
    assert link.capacity_bps == GBIT
    assert link.curves[0] is link.curves[1]


def test_jobs_that_meet_nowhere_share_nothing() -> None:
    jobs = (make_job("one", ("left0", "left1")), make_job("two", ("right0", "right1")))
    assert shared_links(toy_cluster(), jobs) == []
    assert shared_links(toy_cluster(), toy_pair()[:1]) == []
    assert shared_links(toy_cluster(), []) == []


def test_jobs_with_other_neighbours_are_other_groups() -> None:
    jobs = (
        make_job("one", ("left0", "left1")),
        make_job("two", ("left0", "right0")),
        make_job("three", ("right0", "right1")),
    )
    found = shared_links(toy_cluster(), jobs)
    assert [link.jobs for link in found] == [("one", "two"), ("two", "three")]
    assert [len(link.ports) for link in found] == [2, 2]


def test_jobs_of_a_link_are_in_the_order_of_their_periods() -> None:
    slow, fast = (Demand(ready_s, (toy_transfer(ready_s=ready_s),)) for ready_s in (0.2, 0.1))
    jobs = (
        make_job("slow", demand=slow),
        make_job("fast", ("left1", "right1"), fast),
        make_job("also-slow", ("left1", "right0"), slow),
    )
    middle = shared_links(toy_cluster(), jobs)
    assert ("fast", "slow", "also-slow") in [link.jobs for link in middle]


def test_alike_placements_are_simulated_once_and_have_the_same_curves() -> None:
    found = ClusterLinks(dumbbell(4, 4, GBIT))
    one = found.footprint(make_job("one", ("left0", "right3")))
    two = found.footprint(make_job("two", ("left2", "right1")))
    assert one.ports.tolist() != two.ports.tolist()
    assert all(a is b for a, b in zip(one.curves, two.curves, strict=True))


def test_what_a_port_is_asked_for_depends_on_its_rate() -> None:
    found = ClusterLinks(dumbbell(2, 2, GBIT, GBIT / 4))
    across = found.footprint(make_job("one", ("left0", "right0")))
    near = found.footprint(make_job("two", ("left0", "left1")))
    assert {phase.rate_bps for curve in across.curves for phase in curve.phases} == {GBIT / 4}
    assert {phase.rate_bps for curve in near.curves for phase in curve.phases} == {GBIT}


def test_merged_ports_are_scaled_to_the_slowest() -> None:
    jobs = (make_job("one"), make_job("two"))  # on the same servers: they share every port
    link = one_link(shared_links(dumbbell(1, 1, GBIT, GBIT / 4), jobs))
    assert len(link.ports) == 6
    assert link.capacity_bps == GBIT / 4
    # a quarter of what the access links could carry, and all that the middle one can
    assert [phase.rate_bps for phase in link.curves[0].phases] == [GBIT / 4]


def test_a_merged_link_asks_for_the_most_of_any_port() -> None:
    there = toy_transfer(ready_s=0.1, pattern=Pattern.PAIRS, pairs=((0, 1),))
    back = toy_transfer(ready_s=0.2, pattern=Pattern.PAIRS, pairs=((1, 0),))
    jobs = [make_job(name, demand=Demand(0.3, (there, back))) for name in ("one", "two")]
    link = one_link(shared_links(dumbbell(1, 1, GBIT), jobs))
    assert len(link.ports) == 6
    for curve in link.curves:
        assert [(phase.start_s, phase.rate_bps) for phase in curve.phases] == [
            (pytest.approx(0.1), GBIT),
            (pytest.approx(0.2), GBIT),
        ]


def test_jobs_that_send_nothing_share_nothing() -> None:
    jobs = [make_job(name, demand=Demand(0.1, ())) for name in ("one", "two")]
    assert shared_links(toy_cluster(), jobs) == []


def test_what_was_simulated_is_forgotten_when_it_gets_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "MOST_KEPT", 1)
    found = ClusterLinks(toy_cluster())
    first = found.footprint(make_job("one"))
    other = found.footprint(make_job("two", demand=Demand(0.2, (toy_transfer(),))))
    again = found.footprint(make_job("one"))
    assert first.curves == again.curves != other.curves


def test_the_envelope_is_the_most_at_each_time() -> None:
    one = DemandCurve(1.0, (Phase(0.1, 0.4, 4.0), Phase(0.6, 0.7, 4.0)))
    two = DemandCurve(1.0, (Phase(0.2, 0.5, 3.0),))
    assert envelope([one, two], [1.0, 2.0]) == DemandCurve(
        1.0, (Phase(0.1, 0.2, 4.0), Phase(0.2, 0.5, 6.0), Phase(0.6, 0.7, 4.0))
    )
    assert envelope([one, one], [1.0, 0.5]) == one
    assert envelope([DemandCurve(1.0, ())], [1.0]) == DemandCurve(1.0, ())
