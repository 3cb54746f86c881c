"""Scores and rotations of one link, and what a time-shift means in time."""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.cassini.circle import UnifiedCircle, unified_circle
from harness.scheduling.cassini.periods import IncomparableError
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.rotation import (
    EXACT_JOBS,
    Rotation,
    best_rotation,
    compatibility_score,
    descent_rotation,
    exact_rotation,
    exact_work,
    score_at,
)
from tests.unit.harness.scheduling.cassini.demand_curves import (
    ALWAYS,
    ANGLE_S,
    LINE,
    NUM_ANGLES,
    PERIOD_S,
    aligned_curves,
    angles,
    curve,
    score_in_time,
)
from traces.demand import DemandCurve


def rotated(*curves: DemandCurve) -> Rotation:
    return best_rotation(unified_circle(curves, LINE))


def random_curves(rng: np.random.Generator, jobs: int, period_s: float = 0.2) -> list[DemandCurve]:
    """One phase to three each, that together are asked for more than there is, or nearly."""
    found = []
    for _ in range(jobs):
        edges = np.sort(rng.uniform(0, period_s, 2 * rng.integers(1, 4))).tolist()
        phases = zip(edges[::2], edges[1::2], strict=True)
        found.append(curve(*phases, period_s=period_s, rate=rng.uniform(0.25, 1.0) * LINE))
    return found


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
def test_no_rotation_helps_jobs_that_always_send_at_line_rate(jobs: int, score: float) -> None:
    rotation = rotated(*[ALWAYS] * jobs)
    assert rotation.score == pytest.approx(score)
    assert score_at(rotation.circle, [0.0] * jobs) == pytest.approx(score)


def test_two_halves_fit_and_stand_apart() -> None:
    rotation = rotated(angles((0, 36)), angles((0, 36)))
    assert rotation.score == pytest.approx(1.0)
    assert rotation.shifts_s == pytest.approx((0.0, 0.036))
    assert rotation.exact


@pytest.mark.parametrize("jobs", [2, 3, 4, 6])
def test_jobs_with_room_to_spare_stand_as_far_apart_as_they_can(jobs: int) -> None:
    rotation = rotated(*[angles((0, 10))] * jobs)
    assert rotation.score == pytest.approx(1.0)
    evenly_s = [number * PERIOD_S / jobs for number in range(jobs)]
    assert sorted(rotation.shifts_s) == pytest.approx(evenly_s)


def test_a_shift_is_a_delay() -> None:
    # the second sends from angle 12 to 36: delayed by 60 angles it sends from 0 to 24,
    # delayed by 12 within the first's time
    circle = unified_circle([angles((24, 72)), angles((12, 36))], LINE)
    assert score_at(circle, [0.0, 0.060]) == pytest.approx(1.0)
    assert score_at(circle, [0.0, 0.012]) == pytest.approx(1 - 24 / 72)


def test_an_uneven_pair_is_shifted_in_the_right_direction() -> None:
    rotation = rotated(angles((0, 40)), angles((0, 32)))
    assert rotation.score == pytest.approx(1.0)
    assert rotation.shifts_s == pytest.approx((0.0, 0.040))


def test_several_up_phases_fit_into_each_others_down_phases() -> None:
    comb = angles((0, 8), (24, 32), (48, 56))
    wide = angles((0, 16), (24, 40), (48, 64))
    rotation = rotated(comb, wide)
    assert rotation.score == pytest.approx(1.0)
    assert rotation.shifts_s[1] % 0.024 == pytest.approx(0.008)


@settings(max_examples=40)
@given(st.lists(aligned_curves(), min_size=2, max_size=4))
def test_delaying_by_the_shifts_really_gives_the_score(curves: list[DemandCurve]) -> None:
    rotation = rotated(*curves)
    by_definition = score_in_time(curves, rotation.shifts_s, rotation.circle.perimeter_s)
    assert rotation.score == pytest.approx(by_definition, abs=1e-9)
    assert rotation.score == pytest.approx(score_at(rotation.circle, rotation.shifts_s), abs=1e-9)


@settings(max_examples=40)
@given(st.tuples(aligned_curves(24), aligned_curves(36), aligned_curves(18)))
def test_so_it_does_with_periods_that_differ(curves: tuple[DemandCurve, ...]) -> None:
    rotation = rotated(*curves)
    step_s = rotation.circle.slice_s
    by_definition = score_in_time(curves, rotation.shifts_s, PERIOD_S, step_s)
    assert rotation.score == pytest.approx(by_definition, abs=1e-6)


def brute_force_score(circle: UnifiedCircle) -> float:
    """The best over all delays of all jobs but the first, by the definition."""
    demand = circle.demand_bps
    slices = circle.num_slices
    indices = (np.arange(slices)[None, :] - np.arange(slices)[:, None]) % slices
    last = demand[-1][indices]  # row d: delayed by d slices
    best = -float("inf")
    for delays in itertools.product(range(slices), repeat=len(demand) - 2):
        base = demand[0].copy()
        for row, delay in zip(demand[1:-1], delays, strict=True):
            base += np.roll(row, delay)
        excess = np.clip(base + last - LINE, 0.0, None).mean(axis=1)
        best = max(best, float(1.0 - excess.min() / LINE))
    return best


@settings(max_examples=30)
@given(st.lists(aligned_curves(), min_size=2, max_size=3))
def test_no_other_rotation_is_better(curves: list[DemandCurve]) -> None:
    circle = unified_circle(curves, LINE)
    assert exact_rotation(circle).score == pytest.approx(brute_force_score(circle), abs=1e-9)


@settings(max_examples=15)
@given(st.tuples(aligned_curves(36), aligned_curves(72), aligned_curves(24)))
def test_none_is_with_periods_that_differ_though_fewer_are_tried(
    curves: tuple[DemandCurve, ...],
) -> None:
    circle = unified_circle(curves, LINE, Precision(degrees=30.0))
    assert exact_work(circle) < circle.num_slices * circle.num_steps**2
    best = -float("inf")
    for delays in itertools.product(range(circle.num_steps), repeat=2):
        rows = [
            np.roll(row, delay * circle.slices_a_step)
            for row, delay in zip(circle.demand_bps, (0, *delays), strict=True)
        ]
        best = max(best, float(compatibility_score(np.sum(rows, axis=0), LINE)))
    assert exact_rotation(circle).score == pytest.approx(best, abs=1e-9)


@given(st.lists(aligned_curves(), min_size=2, max_size=3), st.floats(0, 1), st.data())
def test_delaying_all_jobs_together_changes_no_score(
    curves: list[DemandCurve], delay_s: float, data: st.DataObject
) -> None:
    circle = unified_circle(curves, LINE)
    shifts = [data.draw(st.integers(0, 71)) * ANGLE_S for _ in curves]
    delayed = [shift + delay_s for shift in shifts]
    assert score_at(circle, delayed) == pytest.approx(score_at(circle, shifts))


@settings(max_examples=30)
@given(aligned_curves(), st.integers(1, 30), st.integers(0, 71))
def test_where_a_job_begins_on_its_circle_does_not_change_the_best_score(
    first: DemandCurve, length: int, turn: int
) -> None:
    turn %= NUM_ANGLES - length + 1
    early, late = angles((0, length)), angles((turn, turn + length))
    assert rotated(first, early).score == pytest.approx(rotated(first, late).score)


@settings(max_examples=30)
@given(st.lists(aligned_curves(), min_size=1, max_size=5))
def test_the_first_job_stays_and_shifts_are_below_a_period(curves: list[DemandCurve]) -> None:
    rotation = rotated(*curves)
    assert rotation.shifts_s[0] == 0.0
    for shift, period in zip(rotation.shifts_s, rotation.circle.periods_s, strict=True):
        assert 0 <= shift < period


def test_jobs_of_different_periods_are_rotated_over_their_own() -> None:
    curves = [curve((0, 0.02), period_s=0.04), curve((0, 0.02), period_s=0.08)]
    rotation = rotated(*curves)
    assert rotation.score == pytest.approx(1.0)
    assert score_in_time(curves, rotation.shifts_s, 0.08) == pytest.approx(1.0)


def test_one_job_alone_needs_no_shift_and_always_fits() -> None:
    for job in (angles((0, 36)), curve((0, PERIOD_S), rate=3 * LINE)):
        rotation = rotated(job)
        assert (rotation.score, rotation.shifts_s, rotation.exact) == (1.0, (0.0,), True)


def test_a_shift_is_taken_to_the_nearest_slice() -> None:
    circle = unified_circle([angles((0, 1)), angles((0, 1))], LINE)
    assert score_at(circle, [0.0, 0.4 * ANGLE_S]) < 1.0
    assert score_at(circle, [0.0, 0.6 * ANGLE_S]) == pytest.approx(1.0)


@pytest.mark.parametrize("jobs", [2, 3, 4])
def test_the_descent_comes_near_the_best_rotation(jobs: int) -> None:
    rng = np.random.default_rng(jobs)
    lost = []
    for _ in range(20):
        circle = unified_circle(random_curves(rng, jobs), LINE)
        lost.append(exact_rotation(circle).score - descent_rotation(circle).score)
    assert min(lost) >= -1e-6
    assert max(lost) <= 0.03
    assert np.mean(lost) <= 0.002


def test_a_descent_is_the_same_for_the_same_seed() -> None:
    circle = unified_circle(random_curves(np.random.default_rng(3), 6), LINE)
    first = descent_rotation(circle, seed=1)
    assert descent_rotation(circle, seed=1).shifts_s == first.shifts_s
    assert not first.exact


def test_more_jobs_than_are_compared_exactly_are_rotated_by_descent() -> None:
    curves = [angles((0, 18))] * (EXACT_JOBS + 1)
    rotation = rotated(*curves)
    assert not rotation.exact
    assert rotation.score == pytest.approx(1.0)


def test_twenty_jobs_find_their_places_on_a_link() -> None:
    rotation = rotated(*[angles((0, 3))] * 20)
    assert rotation.score == pytest.approx(1.0)
    assert len({round(shift_s, 9) for shift_s in rotation.shifts_s}) == 20


def test_twenty_jobs_of_as_many_periods_are_compared() -> None:
    curves = [curve((0, 0.02), period_s=each / 1e3) for each in range(100, 300, 10)]
    rotation = rotated(*curves)
    circle = rotation.circle
    assert circle.perimeter_s <= Precision().max_perimeter_s
    assert score_at(circle, rotation.shifts_s) == pytest.approx(rotation.score, abs=0.01)
    assert rotation.score > score_at(circle, [0.0] * 20)


def test_a_descent_that_would_take_too_long_is_refused() -> None:
    curves = [curve((0, 0.002), period_s=each / 1e3) for each in (10, 2010, 2020, 2030)]
    with pytest.raises(IncomparableError, match="more rotations than can be compared"):
        rotated(*curves)


@pytest.mark.parametrize("degrees", [1.0, 5.0, 30.0, 128.0])
def test_a_finer_angle_fits_more(degrees: float) -> None:
    # they fit at one delay in 72 only
    circle = unified_circle([angles((0, 41)), angles((0, 31))], LINE, Precision(degrees))
    rotation = best_rotation(circle)
    assert rotation.score <= 1.0 + 1e-12
    assert (rotation.score > 1 - 1e-9) == (degrees <= 5.0)


SHORT_AND_LONG = """
from harness.scheduling.cassini.circle import unified_circle
from harness.scheduling.cassini.rotation import best_rotation
from traces.demand import DemandCurve, Phase
short = DemandCurve(0.020, (Phase(0.0, 0.005, 1.0),))
long = DemandCurve(2.001, (Phase(0.0, 0.5, 1.0),))
assert best_rotation(unified_circle([short, long], 1.0)).circle.repeats == (100, 1)
"""


def test_a_short_and_a_long_job_are_compared_in_a_gigabyte() -> None:
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


def test_in_whichever_order_a_short_and_a_long_job_stand_they_score_the_same() -> None:
    short = curve((0, 0.005), period_s=0.020)
    long = curve((0, 0.5), period_s=2.001)
    assert rotated(short, long).score == pytest.approx(rotated(long, short).score)
