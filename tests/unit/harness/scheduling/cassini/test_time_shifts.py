"""CASSINI as an interleaver: which jobs are shifted, and which arms are refused."""

from __future__ import annotations

import pytest

from harness.scheduling.cassini.interleaving import Interleaving, JobShift, interleave
from harness.scheduling.cassini.links import shared_links
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.time_shifts import (
    GRID_SLACK,
    least_scores,
    on_a_grid,
    time_shifts,
)
from harness.scheduling.interleavers import INTERLEAVERS
from harness.simulation.fluid import simulate
from tests.unit.builders import (
    CASSINI,
    GBIT,
    TOY_ALONE_S,
    make_arm,
    make_job,
    toy_pair,
    toy_transfer,
)
from tests.unit.harness.scheduling.cassini.demand_curves import angles
from tests.unit.harness.scheduling.cassini.test_interleaving import HALF, link
from traces.arm import Arm, Job
from traces.cluster import dumbbell
from traces.demand import Demand
from traces.errors import BadInputError
from traces.schedule import TimeShift


def interleaving_of(arm: Arm) -> Interleaving:
    return interleave(shared_links(arm.cluster, arm.jobs), Rotations())


def test_every_job_that_shares_has_a_shift_on_a_grid_a_little_longer_than_its_period() -> None:
    arm = make_arm(scheduler=CASSINI)
    shifts = time_shifts(arm, interleaving_of(arm))
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
    assert set(time_shifts(arm, interleaving_of(arm))) == {"one", "two"}


def halves(*placements: tuple[str, str]) -> tuple[Job, ...]:
    """Jobs that send half of the time, between these servers."""
    demand = Demand(0.04, (toy_transfer(ready_s=0.04),))
    return tuple(
        make_job(f"job{number}", servers, demand) for number, servers in enumerate(placements)
    )


def test_a_job_that_meets_others_on_two_links_keeps_step_with_both() -> None:
    arm = make_arm(halves(("left0", "left1"), ("left0", "right0"), ("right0", "right1")))
    shifts = time_shifts(arm, interleaving_of(arm))
    assert {job: shift.shift_s for job, shift in shifts.items()} == pytest.approx(
        {"job0": 0.0, "job1": 0.04, "job2": 0.0}
    )


def triangle() -> Arm:
    """Each two of the jobs meet at one server, and a half fits beside one other half only."""
    jobs = halves(("left0", "left1"), ("left1", "left2"), ("left2", "left0"))
    return make_arm(jobs, name="triangle", cluster=dumbbell(3, 1, GBIT))


def test_a_loop_that_contradicts_itself_is_refused() -> None:
    arm = triangle()
    with pytest.raises(BadInputError) as caught:
        time_shifts(arm, interleaving_of(arm))
    assert caught.value.key == "scheduler.interleaver"
    for wanted in ("'triangle'", "make a loop", "0.50 instead of 1.00", "without such a loop"):
        assert wanted in str(caught.value)


def test_without_an_interleaver_the_same_jobs_are_fine() -> None:
    arm = triangle()
    assert INTERLEAVERS["none"](arm, interleaving_of(arm)) == {}


def test_jobs_that_cannot_be_compared_are_refused() -> None:
    demands = [Demand(length_s, (toy_transfer(ready_s=length_s),)) for length_s in (31.0, 40.0)]
    jobs = (make_job("one", demand=demands[0]), make_job("two", ("left1", "right1"), demands[1]))
    arm = make_arm(jobs)
    with pytest.raises(BadInputError, match=r"jobs one, two: .* within 60 s") as caught:
        time_shifts(arm, interleaving_of(arm))
    assert caught.value.key == "scheduler.interleaver"


def test_the_least_score_counts_over_all_that_is_connected() -> None:
    links = [
        link({"a": HALF, "b": angles((0, 36))}, 0),
        link({"b": HALF, "c": angles((0, 54))}, 1),
        link({"d": HALF, "e": HALF}, 2),
    ]
    found = interleave(links, Rotations())
    assert found.scores == pytest.approx((1.0, 0.75, 1.0))
    assert least_scores(found) == pytest.approx(
        {"a": 0.75, "b": 0.75, "c": 0.75, "d": 1.0, "e": 1.0}
    )
    assert least_scores(interleave([], Rotations())) == {}


def test_a_link_without_a_score_fits_nobody() -> None:
    demands = [Demand(length_s, (toy_transfer(ready_s=length_s),)) for length_s in (31.0, 40.0)]
    jobs = (make_job("one", demand=demands[0]), make_job("two", ("left1", "right1"), demands[1]))
    found = interleaving_of(make_arm(jobs))
    assert least_scores(found) == {"one": 0.0, "two": 0.0}


@pytest.mark.parametrize(("least", "is_held"), [(1.0, True), (0.981, True), (0.979, False)])
def test_only_where_all_links_fit_a_job_is_held(least: float, is_held: bool) -> None:
    shift = on_a_grid(JobShift(0.05, 0.2), least)
    assert shift == TimeShift(0.05, 0.2 * (1 + GRID_SLACK), is_held=is_held)


def test_a_turn_stays_on_the_circle() -> None:
    assert on_a_grid(JobShift(0.15, 0.2), 1.0, 0.1).shift_s == pytest.approx(0.05)
    assert on_a_grid(JobShift(0.05, 0.2), 1.0, -0.1).shift_s == pytest.approx(0.15)


def test_jobs_that_do_not_fit_take_turns_on_a_grid_that_they_can_keep() -> None:
    # 40 ms of computing, 60 ms of sending: two of them score 0.8, and the link takes 120 ms.
    demand = Demand(0.04, (toy_transfer(ready_s=0.04, bytes=0.06 * GBIT / 8),))
    arm = make_arm((make_job("one", demand=demand), make_job("two", ("left1", "right1"), demand)))
    shifts = time_shifts(arm, interleaving_of(arm))
    simulation = simulate(arm.cluster, arm.jobs, 20, shifts)
    assert dict(simulation.adjustments) == {"one": 0, "two": 0}
    for spans in simulation.iterations.values():
        assert (spans[-1].end_s - spans[0].start_s) / 20 == pytest.approx(0.12, rel=0.01)
