"""Unified circles: what of the demands is on them, how finely, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.cassini.circle import unified_circle
from harness.scheduling.cassini.periods import IncomparableError, common_periods
from harness.scheduling.cassini.precision import Precision
from tests.unit.harness.scheduling.cassini.demand_curves import (
    ALWAYS,
    LINE,
    NUM_ANGLES,
    PERIOD_S,
    angles,
    curve,
)
from traces.demand import DemandCurve, Phase


def test_a_repeated_demand_is_on_the_circle_as_often_as_it_repeats() -> None:
    curves = [curve((0, 0.01), period_s=0.04), curve((0, 0.03), period_s=0.06)]
    circle = unified_circle(curves, LINE)
    assert (circle.repeats, circle.perimeter_s) == ((3, 2), pytest.approx(0.12))
    assert circle.demand_bps.shape == (2, 3 * NUM_ANGLES)
    per_turn = circle.demand_bps[0].reshape(3, -1)
    assert (per_turn == per_turn[0]).all()
    bits = circle.demand_bps.sum(axis=1) * circle.slice_s
    assert bits == pytest.approx([3 * 0.01 * LINE, 2 * 0.03 * LINE])


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=8, unique=True),
    st.floats(0.05, 0.2),
    st.floats(0.05, 0.2),
    st.sampled_from([1.0, 5.0, 128.0]),
)
def test_every_bit_of_a_demand_is_on_the_circle(
    edges: list[float], period_s: float, other_s: float, degrees: float
) -> None:
    edges = [edge * period_s for edge in sorted(edges)[: len(edges) // 2 * 2]]
    job = curve(*zip(edges[::2], edges[1::2], strict=True), period_s=period_s)
    circle = unified_circle([job, curve(period_s=other_s)], LINE, Precision(degrees))
    bits = sum((phase.end_s - phase.start_s) * phase.rate_bps for phase in job.phases)
    assert circle.demand_bps[0].sum() * circle.slice_s == pytest.approx(
        circle.repeats[0] * bits, rel=1e-6, abs=1e-9
    )
    assert not circle.demand_bps[1].any()
    assert circle.demand_bps.max() <= LINE * (1 + 1e-9)


def test_a_slice_has_the_share_of_the_phase_that_lies_in_it() -> None:
    circle = unified_circle([curve((2.5e-3, 4.25e-3))], LINE)
    assert circle.demand_bps[0, :6] == pytest.approx([0, 0, LINE / 2, LINE, LINE / 4, 0])


def test_a_lengthened_period_ends_in_silence() -> None:
    circle = unified_circle([ALWAYS, curve(period_s=PERIOD_S * 1.015)], LINE)
    assert circle.period_rounding == pytest.approx(0.015)
    assert circle.demand_bps[0, :-2] == pytest.approx(LINE)
    assert circle.demand_bps[0, -1] == 0


def test_periods_may_be_those_of_more_jobs() -> None:
    periods = common_periods([0.04, 0.08, 0.24], Precision())
    two = periods.__class__(periods.perimeter_s, periods.repeats[:2], periods.periods_s[:2], 0.0)
    circle = unified_circle(
        [curve((0, 0.01), period_s=0.04), curve((0, 0.01), period_s=0.08)], LINE, periods=two
    )
    assert circle.perimeter_s == pytest.approx(0.08)  # of three turns of all jobs' perimeter
    assert circle.repeats == (2, 1)


def test_a_coarse_angle_does_not_blur_the_demand() -> None:
    circle = unified_circle([angles((3, 10))], LINE, Precision(degrees=120.0))
    assert circle.num_steps == 3
    assert circle.num_slices == NUM_ANGLES
    assert circle.demand_bps[0].tolist() == pytest.approx([0] * 3 + [LINE] * 7 + [0] * 62)


def test_a_short_phase_that_carries_much_has_a_slice_of_its_own() -> None:
    short = curve((0.0101, 0.0102), (0.0201, 0.0202))
    circle = unified_circle([short, angles((0, 36))], LINE)
    assert circle.num_steps == NUM_ANGLES
    assert circle.slice_s <= 1e-4 * (1 + 1e-6)
    assert circle.demand_bps[0].max() == pytest.approx(LINE)


def test_a_short_phase_that_carries_little_is_averaged() -> None:
    circle = unified_circle([curve((0.0101, 0.0102), (0.02, 0.06))], LINE)
    assert circle.num_slices == NUM_ANGLES
    assert circle.demand_bps[0, 10] == pytest.approx(LINE / 10)


def test_where_periods_can_all_be_whole_steps_they_are() -> None:
    curves = [curve((0, 0.01), period_s=period_s) for period_s in (0.05, 0.07, 0.035)]
    circle = unified_circle(curves, LINE)  # repeats 7, 5, 10
    assert circle.repeats == (7, 5, 10)
    assert circle.num_steps == 770  # 720 or more, and a multiple of 70
    assert all(circle.num_steps % count == 0 for count in circle.repeats)


def test_where_that_would_take_many_more_only_the_shortest_is_whole() -> None:
    curves = [curve((0, 0.01), period_s=1 / count) for count in (47, 49, 50)]
    circle = unified_circle(curves, LINE, Precision(max_rounding=0.0))
    assert circle.num_steps == 50 * NUM_ANGLES


def test_demand_above_the_capacity_is_clipped_and_counted() -> None:
    job = DemandCurve(PERIOD_S, (Phase(0.0, 0.012, 2 * LINE), Phase(0.024, 0.036, LINE / 2)))
    circle = unified_circle([job, ALWAYS], LINE)
    assert circle.demand_bps[0].max() == pytest.approx(LINE)
    assert circle.clipped == (pytest.approx(10 / 25), 0.0)


def test_a_silent_job_is_not_clipped() -> None:
    circle = unified_circle([curve(), curve((0.01, 0.01))], LINE)
    assert circle.clipped == (0.0, 0.0)
    assert not circle.demand_bps.any()


@pytest.mark.parametrize("capacity_bps", [0.0, -1.0, float("inf"), float("nan")])
def test_a_capacity_is_above_zero(capacity_bps: float) -> None:
    with pytest.raises(ValueError, match="must be more than 0"):
        unified_circle([ALWAYS], capacity_bps)


@pytest.mark.parametrize("curves", [[], [DemandCurve(0.0, ())]])
def test_a_circle_needs_a_job_with_a_period(curves: list[DemandCurve]) -> None:
    with pytest.raises(ValueError, match="period above zero"):
        unified_circle(curves, LINE)


def test_a_circle_of_too_many_slices_is_refused() -> None:
    curves = [curve((0, 1e-5), period_s=1e-4), curve((0, 1.0), period_s=59.0)]
    with pytest.raises(IncomparableError, match=r"circle of 59 s.* 590000 times"):
        unified_circle(curves, LINE)
