"""Which links jobs share, and the time-shifts that follow."""

from __future__ import annotations

import pytest

from harness.scheduling.cassini import (
    GRID_SLACK,
    dedicated_curve,
    ports_of,
    shared_links,
    time_shifts,
)
from harness.scheduling.interleavers import INTERLEAVERS
from tests.unit.builders import (
    GBIT,
    TOY_ALONE_S,
    TOY_COMPUTE_S,
    all_to_all_job,
    make_arm,
    make_job,
    toy_cluster,
    toy_pair,
    toy_transfer,
)
from traces.cluster import Port, dumbbell
from traces.demand import Demand
from traces.errors import BadInputError
from traces.scenario import Job

MIDDLE = Port("switch-left", "switch-right")


def test_a_ring_of_two_uses_both_directions() -> None:
    assert {str(port) for port in ports_of(toy_cluster(), make_job("one"))} == {
        "left0->switch-left", "switch-left->switch-right", "switch-right->right0",
        "right0->switch-right", "switch-right->switch-left", "switch-left->left0",
    }  # fmt: skip


def test_the_dedicated_curve_is_the_jobs_demand_alone() -> None:
    curve = dedicated_curve(toy_cluster(), make_job("one", start_s=5.0), MIDDLE)
    assert curve.period_s == pytest.approx(TOY_ALONE_S)
    (phase,) = curve.phases
    assert (phase.start_s, phase.end_s) == pytest.approx((TOY_COMPUTE_S, TOY_ALONE_S))
    assert phase.rate_bps == GBIT


def test_several_flows_of_one_job_at_a_port_are_one_demand() -> None:
    curve = dedicated_curve(toy_cluster(), all_to_all_job(), MIDDLE)
    bits = sum((phase.end_s - phase.start_s) * phase.rate_bps for phase in curve.phases)
    assert bits == pytest.approx(4 * 5e6 / 3 * 8)
    assert all(phase.rate_bps <= GBIT * (1 + 1e-9) for phase in curve.phases)
    assert (curve.phases[0].start_s, curve.phases[0].rate_bps) == pytest.approx((0.05, GBIT))


def test_both_directions_of_the_middle_link_are_one_group() -> None:
    (group,) = shared_links(toy_cluster(), toy_pair())
    assert group.jobs == ("one", "two")
    assert set(group.ports) == {MIDDLE, Port(MIDDLE.peer, MIDDLE.node)}
    assert group.capacity_bps == GBIT
    assert group.rotation is not None
    assert group.rotation.score == 1.0


def test_jobs_that_meet_nowhere_share_nothing() -> None:
    jobs = (make_job("one", ("left0", "left1")), make_job("two", ("right0", "right1")))
    assert shared_links(toy_cluster(), jobs) == []
    assert shared_links(toy_cluster(), toy_pair()[:1]) == []


def test_the_tightest_port_stands_for_its_group() -> None:
    jobs = (make_job("one"), make_job("two"))  # on the same servers: they share every port
    (group,) = shared_links(dumbbell(1, 1, GBIT, GBIT / 4), jobs)
    assert len(group.ports) == 6
    assert group.capacity_bps == GBIT / 4


def test_every_job_that_shares_has_a_shift_on_a_grid_a_little_longer_than_its_period() -> None:
    arm = make_arm(interleaver="cassini")
    shifts = time_shifts(arm, shared_links(arm.cluster, arm.jobs))
    assert set(shifts) == {"one", "two"}
    assert shifts["one"].shift_s == 0.0
    # 40 ms each in 140 ms: as far apart as the circle allows
    assert shifts["two"].shift_s == pytest.approx(TOY_ALONE_S / 2)
    for shift in shifts.values():
        assert shift.grid_period_s == pytest.approx(TOY_ALONE_S * (1 + GRID_SLACK))
    assert GRID_SLACK > 0


def test_a_job_alone_on_its_links_has_no_shift() -> None:
    alone = make_job("alone", ("left2", "left3"))
    arm = make_arm((*toy_pair(), alone), cluster=dumbbell(4, 2, GBIT))
    assert set(time_shifts(arm, shared_links(arm.cluster, arm.jobs))) == {"one", "two"}


def crossing_jobs() -> tuple[Job, ...]:
    """The second shares the left server with the first, and the right one with the third."""
    return (
        make_job("one", ("left0", "left1")),
        make_job("two", ("left0", "right0")),
        make_job("three", ("right0", "right1")),
    )


def test_a_job_in_two_groups_is_refused() -> None:
    arm = make_arm(crossing_jobs(), name="crossing")
    links = shared_links(arm.cluster, arm.jobs)
    assert len(links) == 2
    with pytest.raises(BadInputError) as caught:
        time_shifts(arm, links)
    assert caught.value.key == "scheduler.interleaver"
    assert "'crossing'" in caught.value.problem
    assert "'two'" in caught.value.problem


def test_without_an_interleaver_the_same_jobs_are_fine() -> None:
    arm = make_arm(crossing_jobs())
    assert INTERLEAVERS["none"](arm, shared_links(arm.cluster, arm.jobs)) == {}


def incomparable_jobs() -> tuple[Job, ...]:
    odd = Demand(0.95701, (toy_transfer(ready_s=0.95701),))
    return make_job("one", demand=Demand(0.969, (toy_transfer(ready_s=0.969),))), make_job(
        "two", ("left1", "right1"), odd
    )


def test_circles_that_cannot_be_compared_are_kept_with_the_reason() -> None:
    (group,) = shared_links(toy_cluster(), incomparable_jobs())
    assert group.rotation is None
    assert "jobs one, two on switch-left->switch-right" in group.incomparable
    assert "limited to 60 s" in group.incomparable


def test_shifts_for_them_are_refused() -> None:
    arm = make_arm(incomparable_jobs())
    with pytest.raises(BadInputError, match="limited to 60 s"):
        time_shifts(arm, shared_links(arm.cluster, arm.jobs))
