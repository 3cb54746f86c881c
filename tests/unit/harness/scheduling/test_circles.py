"""CASSINI's circles: the score, the rotations, and what a time-shift means in time."""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.circles import (
    MAX_JOBS,
    NUM_ANGLES,
    UnifiedCircle,
    best_rotation,
    compatibility_score,
    score_at,
    unified_circle,
)
from traces.demand import DemandCurve, Phase

LINE = 10.0
ANGLE_S = 0.001
PERIOD_S = NUM_ANGLES * ANGLE_S


def curve(
    *phases: tuple[float, float], period_s: float = PERIOD_S, rate: float = LINE
) -> DemandCurve:
    return DemandCurve(period_s, tuple(Phase(start, end, rate) for start, end in phases))


def angles(*phases: tuple[int, int], rate: float = LINE) -> DemandCurve:
    """Phases from angle to angle of a circle of 72 ms."""
    return curve(*((a * ANGLE_S, b * ANGLE_S) for a, b in phases), rate=rate)


ALWAYS = angles((0, NUM_ANGLES))


@st.composite
def aligned_curves(draw: st.DrawFn) -> DemandCurve:
    """One or two phases whose edges are angles, so that sampling loses nothing."""
    edges = draw(st.lists(st.integers(0, NUM_ANGLES), min_size=2, max_size=4, unique=True))
    edges = sorted(edges)[: len(edges) // 2 * 2]
    rate = draw(st.sampled_from([LINE / 4, LINE / 2, LINE]))
    return angles(*zip(edges[::2], edges[1::2], strict=True), rate=rate)


def score_in_time(curves: list[DemandCurve], shifts_s: list[float], perimeter_s: float) -> float:
    """The definition, a second time: job j at time t demands what it has at t - shift."""

    def rate(each: DemandCurve, moment_s: float) -> float:
        phase_s = moment_s % each.period_s
        return sum(p.rate_bps for p in each.phases if p.start_s <= phase_s < p.end_s)

    steps = round(perimeter_s / ANGLE_S)
    excess = 0.0
    for step in range(steps):
        moment_s = (step + 0.5) * ANGLE_S
        total = sum(rate(c, moment_s - shift) for c, shift in zip(curves, shifts_s, strict=True))
        excess += max(total - LINE, 0.0)
    return 1.0 - excess / steps / LINE


@pytest.mark.parametrize(
    ("total", "score"),
    [
        ([10, 10, 0, 0], 1.0),  # never more than the link has
        ([20, 20, 0, 0], 0.5),  # excess of 10 over half the circle: mean 5, of 10
        ([15, 0, 0, 5], 0.875),
        ([0, 0, 0, 0], 1.0),
        ([40, 40, 40, 40], -2.0),
    ],
)
def test_the_score_is_one_less_the_mean_excess_over_the_capacity(
    total: list[float], score: float
) -> None:
    assert compatibility_score(np.array(total, dtype=float), LINE) == pytest.approx(score)


def test_the_score_works_on_many_circles_at_once() -> None:
    totals = np.array([[10.0, 10.0], [20.0, 20.0]])
    assert compatibility_score(totals, LINE).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("jobs", "score"), [(1, 1.0), (2, 0.0), (3, -1.0), (4, -2.0)])
def test_jobs_that_always_send_at_line_rate(jobs: int, score: float) -> None:
    circle = unified_circle([ALWAYS] * jobs)
    assert score_at(circle, [0.0] * jobs, LINE) == pytest.approx(score)


@pytest.mark.parametrize(("jobs", "score"), [(2, 0.0), (3, -1.0)])
def test_no_rotation_helps_jobs_that_always_send(jobs: int, score: float) -> None:
    assert best_rotation([ALWAYS] * jobs, LINE).score == pytest.approx(score)


def test_two_halves_fit_and_stand_apart() -> None:
    rotation = best_rotation([angles((0, 36)), angles((0, 36))], LINE)
    assert rotation.score == 1.0
    assert rotation.shifts_s == pytest.approx((0.0, 0.036))


def test_jobs_with_room_to_spare_stand_as_far_apart_as_they_can() -> None:
    rotation = best_rotation([angles((0, 12)), angles((0, 12)), angles((0, 12))], LINE)
    assert rotation.score == 1.0
    assert sorted(rotation.shifts_s) == pytest.approx([0.0, 0.024, 0.048])


def test_a_shift_is_a_delay() -> None:
    # the second sends from angle 12 to 36: delayed by 60 angles it sends from 0 to 24,
    # delayed by 12 within the first's time
    circle = unified_circle([angles((24, 72)), angles((12, 36))])
    assert score_at(circle, [0.0, 0.060], LINE) == pytest.approx(1.0)
    assert score_at(circle, [0.0, 0.012], LINE) == pytest.approx(1 - 24 / 72)


def test_an_uneven_pair_is_shifted_in_the_right_direction() -> None:
    first, second = angles((0, 40)), angles((0, 32))
    rotation = best_rotation([first, second], LINE)
    assert rotation.score == 1.0
    assert rotation.shifts_s == pytest.approx((0.0, 0.040))


@settings(max_examples=40)
@given(st.lists(aligned_curves(), min_size=2, max_size=3))
def test_delaying_by_the_shifts_really_gives_the_score(curves: list[DemandCurve]) -> None:
    rotation = best_rotation(curves, LINE)
    by_definition = score_in_time(curves, list(rotation.shifts_s), rotation.circle.perimeter_s)
    assert rotation.score == pytest.approx(by_definition, abs=1e-9)
    assert rotation.score == pytest.approx(
        score_at(rotation.circle, rotation.shifts_s, LINE), abs=1e-9
    )


@settings(max_examples=30)
@given(st.lists(aligned_curves(), min_size=2, max_size=3))
def test_no_other_rotation_is_better(curves: list[DemandCurve]) -> None:
    demand = [list(c.sample(NUM_ANGLES)) for c in curves]
    best = -float("inf")
    indices = (np.arange(NUM_ANGLES)[:, None] - np.arange(NUM_ANGLES)[None, :]) % NUM_ANGLES
    last = np.array(demand[-1])[indices].T  # row d: delayed by d angles
    for turns in itertools.product(range(NUM_ANGLES), repeat=len(curves) - 2):
        base = np.array(demand[0])
        for row, turn in zip(demand[1:-1], turns, strict=True):
            base = base + np.array(row[-turn:] + row[:-turn] if turn else row)
        excess = np.clip(base[None, :] + last - LINE, 0.0, None).mean(axis=1)
        best = max(best, float(1.0 - excess.min() / LINE))
    assert best_rotation(curves, LINE).score == pytest.approx(best, abs=1e-9)


@given(st.lists(aligned_curves(), min_size=2, max_size=3), st.integers(0, 71), st.data())
def test_turning_all_jobs_together_changes_no_score(
    curves: list[DemandCurve], turn: int, data: st.DataObject
) -> None:
    circle = unified_circle(curves)
    shifts = [data.draw(st.integers(0, 71)) * ANGLE_S for _ in curves]
    turned = [shift + turn * ANGLE_S for shift in shifts]
    assert score_at(circle, turned, LINE) == pytest.approx(score_at(circle, shifts, LINE))


@settings(max_examples=30)
@given(aligned_curves(), st.integers(1, 30), st.integers(0, 71))
def test_where_a_job_begins_on_its_circle_does_not_change_the_best_score(
    first: DemandCurve, length: int, turn: int
) -> None:
    length = min(length, NUM_ANGLES - 1)
    turn %= NUM_ANGLES - length + 1
    early, late = angles((0, length)), angles((turn, turn + length))
    assert best_rotation([first, early], LINE).score == pytest.approx(
        best_rotation([first, late], LINE).score
    )


@settings(max_examples=30)
@given(st.lists(aligned_curves(), min_size=1, max_size=3))
def test_the_first_job_stays_and_shifts_are_below_a_period(curves: list[DemandCurve]) -> None:
    rotation = best_rotation(curves, LINE)
    assert rotation.shifts_s[0] == 0.0
    for shift, period in zip(rotation.shifts_s, rotation.circle.periods_s, strict=True):
        assert 0 <= shift < period


def test_40_and_60_ms_meet_after_120_ms() -> None:
    circle = unified_circle([curve((0, 0.01), period_s=0.04), curve((0, 0.01), period_s=0.06)])
    assert circle.perimeter_s == pytest.approx(0.120)
    assert circle.repeats == (3, 2)
    assert circle.periods_s == pytest.approx((0.04, 0.06))
    assert circle.period_rounding == pytest.approx(0, abs=1e-12)
    assert circle.demand_bps.shape == (2, 3 * NUM_ANGLES)


def test_a_repeated_demand_is_on_the_circle_as_often_as_it_repeats() -> None:
    circle = unified_circle([curve((0, 0.01), period_s=0.04), curve((0, 0.03), period_s=0.06)])
    per_turn = circle.demand_bps[0].reshape(3, -1)
    assert np.allclose(per_turn, per_turn[0])
    bits = circle.demand_bps.sum(axis=1) * circle.perimeter_s / circle.demand_bps.shape[1]
    assert bits == pytest.approx([3 * 0.01 * LINE, 2 * 0.03 * LINE])


def test_jobs_of_different_periods_are_rotated_over_their_own() -> None:
    curves = [curve((0, 0.02), period_s=0.04), curve((0, 0.02), period_s=0.08)]
    rotation = best_rotation(curves, LINE)
    assert rotation.score == pytest.approx(1.0)
    assert rotation.shifts_s[0] == 0.0
    assert score_in_time(curves, list(rotation.shifts_s), 0.08) == pytest.approx(1.0)


def test_equal_periods_are_not_rounded() -> None:
    circle = unified_circle([curve(period_s=0.23009), curve(period_s=0.23009)])
    assert circle.perimeter_s == 0.23009
    assert (circle.repeats, circle.period_rounding) == ((1, 1), 0.0)


def test_periods_that_differ_are_rounded_up_to_a_millisecond() -> None:
    circle = unified_circle([curve(period_s=0.0395), curve(period_s=0.0600)])
    assert circle.periods_s == pytest.approx((0.040, 0.060))
    assert circle.period_rounding == pytest.approx(0.040 / 0.0395 - 1)


def test_a_period_that_is_whole_but_for_noise_is_not_rounded_up() -> None:
    circle = unified_circle([curve(period_s=0.1 + 1e-14), curve(period_s=0.05)])
    assert circle.perimeter_s == pytest.approx(0.1)


def test_periods_that_hardly_ever_meet_are_refused_with_the_limit() -> None:
    with pytest.raises(ValueError, match=r"0\.997 s, 1\.009 s .* 1006 s; .* limited to 60 s"):
        unified_circle([curve(period_s=0.997), curve(period_s=1.009)])


@pytest.mark.parametrize("curves", [[], [DemandCurve(0.0, ())]])
def test_a_circle_needs_a_job_with_a_period(curves: list[DemandCurve]) -> None:
    with pytest.raises(ValueError, match="period above zero"):
        unified_circle(curves)


def test_more_jobs_than_can_be_searched_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 4"):
        best_rotation([ALWAYS] * (MAX_JOBS + 1), LINE)


def test_one_job_alone_needs_no_shift() -> None:
    rotation = best_rotation([angles((0, 36))], LINE)
    assert rotation.score == pytest.approx(1.0)
    assert rotation.shifts_s == (0.0,)


def test_a_shift_is_taken_to_the_nearest_angle() -> None:
    demand = np.zeros((2, NUM_ANGLES))
    demand[:, 0] = LINE
    circle = UnifiedCircle(PERIOD_S, (PERIOD_S, PERIOD_S), (1, 1), demand, 0.0)
    assert score_at(circle, [0.0, 0.4 * ANGLE_S], LINE) < 1.0
    assert score_at(circle, [0.0, 0.6 * ANGLE_S], LINE) == 1.0


SHORT_AND_LONG = """
from harness.scheduling.circles import best_rotation
from traces.demand import DemandCurve, Phase
short = DemandCurve(0.020, (Phase(0.0, 0.005, 1.0),))
long = DemandCurve(2.001, (Phase(0.0, 0.5, 1.0),))
try:
    best_rotation([short, long], 1.0)
except ValueError:
    pass  # to refuse is as good
"""


def test_a_short_and_a_long_job_are_compared_in_a_gigabyte_or_refused() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))

    done = subprocess.run(
        (sys.executable, "-c", SHORT_AND_LONG),
        preexec_fn=limit,
        env={"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_in_whichever_order_a_short_and_a_long_job_stand_they_can_be_compared() -> None:
    short = curve((0, 0.005), period_s=0.020)
    long = curve((0, 0.5), period_s=2.001)
    score = best_rotation([long, short], LINE).score
    assert best_rotation([short, long], LINE).score == pytest.approx(score)
