"""What is decided for an arm: shifts, and the score under them."""

from __future__ import annotations

import pytest

from harness.experiments.decide import decide
from harness.scheduling.cassini.precision import Precision
from tests.unit.builders import (
    CASSINI,
    TOY_ALONE_S,
    TOY_TRANSFER_S,
    make_arm,
    make_job,
    toy_pair,
    toy_transfer,
)
from traces.demand import Demand
from traces.scenario_spec import SchedulerSpec

# both send at once: the link is asked for twice its rate over the transfer's part of the circle
TOGETHER_SCORE = 1 - TOY_TRANSFER_S / TOY_ALONE_S
AN_ANGLE = 1 / Precision().num_angles  # a phase's ends lie within an angle


def test_in_lock_step_the_score_is_that_of_the_overlap() -> None:
    decision = decide(make_arm())
    assert decision.shifts == {}
    assert decision.score == pytest.approx(TOGETHER_SCORE, abs=AN_ANGLE)


def test_cassini_shifts_them_to_a_full_score() -> None:
    decision = decide(make_arm(scheduler=CASSINI))
    assert set(decision.shifts) == {"one", "two"}
    assert decision.score == pytest.approx(1.0)


def test_starts_that_keep_jobs_apart_score_like_shifts() -> None:
    decision = decide(make_arm(toy_pair(second_start_s=TOY_ALONE_S / 2)))
    assert decision.shifts == {}
    assert decision.score == pytest.approx(1.0)


def test_a_start_a_whole_iteration_later_is_lock_step_again() -> None:
    decision = decide(make_arm(toy_pair(second_start_s=TOY_ALONE_S)))
    assert decision.score == pytest.approx(TOGETHER_SCORE, abs=AN_ANGLE)


def test_in_a_dedicated_arm_nothing_is_shared() -> None:
    decision = decide(make_arm(dedicated=True, scheduler=CASSINI))
    assert (decision.interleaving.links, decision.shifts, decision.score) == ((), {}, 1.0)


def test_jobs_that_meet_nowhere_have_a_full_score() -> None:
    jobs = (make_job("one", ("left0", "left1")), make_job("two", ("right0", "right1")))
    assert decide(make_arm(jobs)).score == 1.0


def test_without_comparable_circles_there_is_no_score() -> None:
    odd = [Demand(length, (toy_transfer(ready_s=length),)) for length in (31.0, 40.0)]
    jobs = (make_job("one", demand=odd[0]), make_job("two", ("left1", "right1"), odd[1]))
    decision = decide(make_arm(jobs))
    assert decision.score is None
    assert decision.interleaving.links[0].incomparable


@pytest.mark.parametrize(("degrees", "steps"), [(1.0, 360), (5.0, 72), (120.0, 3)])
def test_rotations_are_as_precise_as_the_scenario_says(degrees: float, steps: int) -> None:
    scheduler = SchedulerSpec(interleaver="cassini", precision=degrees)
    decision = decide(make_arm(scheduler=scheduler))
    (link,) = decision.interleaving.links
    assert link.rotation is not None
    assert link.rotation.circle.num_steps == steps
    apart = (decision.shift_s("two") - decision.shift_s("one")) / TOY_ALONE_S * steps
    assert apart == pytest.approx(round(apart))
    assert decision.score == pytest.approx(1.0)
