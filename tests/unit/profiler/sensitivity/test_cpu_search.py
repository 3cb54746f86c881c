"""The search finds the ideal demand and the curve with few points."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.sensitivity.cpu_curve import CpuCurve, interpolated
from profiler.sensitivity.cpu_search import MOST_POINTS, CpuSearch

CPUS = [float(cpus) for cpus in range(1, 25)]
QUARTERS = [1.0, 1.25, 1.5, 1.75, 2.0]


def searched(
    iteration_s: Callable[[float], float], cpus: Sequence[float] = CPUS, most: int = MOST_POINTS
) -> tuple[list[float], CpuCurve]:
    search = CpuSearch(cpus, most)
    points: list[float] = []
    while (point := search.next_point()) is not None:
        points.append(point)
        search.add(point, iteration_s(point))
    return points, search.curve()


@given(gpu_s=st.floats(0.01, 10), needed=st.floats(0.5, 30))
def test_of_the_slower_of_two_stages_curve_and_ideal_demand_are_found(
    gpu_s: float, needed: float
) -> None:
    """needed: CPUs with which preparing takes as long as the GPU."""

    def true_s(cpus: float) -> float:
        return gpu_s * max(1.0, needed / cpus)

    points, curve = searched(true_s)
    true = np.array([true_s(cpus) for cpus in CPUS])
    assert len(points) == len(set(points)) <= MOST_POINTS
    assert np.abs(true / curve.iteration_s - 1).max() < 0.035
    # Beyond that the search may have no point left for it.
    if 1.1 <= needed <= 15:
        assert curve.is_knee_measured
    if curve.is_knee_measured:
        assert curve.knee == np.argmax(true <= true[-1] / 0.98)


@given(st.lists(st.floats(0.05, 5), min_size=24, max_size=24), st.integers(1, 12))
def test_any_times_give_a_curve_that_never_rises(times: list[float], most: int) -> None:
    points, curve = searched(lambda cpus: times[int(cpus) - 1], most=most)
    assert len(points) == len(set(points)) <= most
    assert np.all(np.diff(curve.iteration_s) <= 1e-12)
    assert curve.measured.sum() == len(points)
    assert np.all(curve.uncertain[curve.measured] == 0)


@given(st.lists(st.floats(0.05, 5), min_size=24, max_size=24))
def test_times_that_fall_are_kept_where_they_were_measured(times: list[float]) -> None:
    falling = sorted(times, reverse=True)
    _, curve = searched(lambda cpus: falling[int(cpus) - 1])
    expected = np.array(falling)[curve.measured]
    assert curve.iteration_s[curve.measured] == pytest.approx(expected)
    assert curve.repaired == 0


def test_a_model_that_needs_no_cpus_takes_two_points() -> None:
    points, curve = searched(lambda cpus: 0.12)
    assert points == [24, 1]
    assert (curve.knee_cpus, curve.is_knee_measured) == (1, True)


def test_the_search_halves_and_then_measures_where_it_is_least_certain() -> None:
    points, _ = searched(lambda cpus: max(1.0, 9.0 / cpus))
    assert points[:5] == [24, 1, 12, 6, 9]


def test_noise_is_repaired_and_the_repair_is_said() -> None:
    search = CpuSearch(CPUS)
    search.add(24, 1.02)
    search.add(12, 1.0)
    search.add(1, 5.0)
    curve = search.curve()
    assert curve.repaired == pytest.approx(0.01, rel=0.05)
    assert curve.knee_cpus < 24
    assert np.all(np.diff(curve.iteration_s) <= 1e-12)


@pytest.mark.parametrize("noise_seed", range(10))
def test_noise_of_half_a_percent_does_not_mislead_it(noise_seed: int) -> None:
    random = np.random.default_rng(noise_seed)
    points, curve = searched(
        lambda cpus: max(1.0, 6.0 / cpus) * float(np.exp(0.005 * random.standard_normal()))
    )
    assert curve.knee_cpus == 6
    assert len(points) <= MOST_POINTS


def test_three_points_give_the_curve_over_quarters_of_a_core() -> None:
    points, curve = searched(lambda cpus: 0.1 + 0.4 / cpus, QUARTERS, most=3)
    assert points == [2.0, 1.0, 1.5]
    expected = [0.1 + 0.4 / cpus for cpus in QUARTERS]
    assert curve.iteration_s == pytest.approx(expected)


def test_a_point_where_nothing_can_be_measured_is_gone_around() -> None:
    search = CpuSearch(CPUS)
    search.skip(24)
    search.skip(1)
    assert search.next_point() == 23
    search.add(23, 1.0)
    assert search.next_point() == 2
    search.add(2, 4.0)
    assert search.spent == 4
    curve = search.curve()
    assert curve.iteration_s[-1] == 1.0
    # In proportion below what was measured.
    assert curve.iteration_s[0] == pytest.approx(8.0)


def test_a_search_without_a_point_that_works_ends() -> None:
    search = CpuSearch([1.0, 2.0])
    search.skip(2.0)
    search.skip(1.0)
    assert search.next_point() is None
    with pytest.raises(ValueError, match="no point"):
        search.curve()


def test_one_number_of_cpus_is_an_axis() -> None:
    points, curve = searched(lambda cpus: 0.5, [2.0])
    assert points == [2.0]
    assert curve.iteration_s.tolist() == [0.5]
    assert (curve.knee_cpus, curve.is_knee_measured) == (2.0, True)


def test_interpolation_is_exact_where_a_part_is_serial() -> None:
    cpus = np.array([1.0, 4.0, 9.0])
    wanted = np.array([2.0, 3.0, 6.0])
    assert interpolated(wanted, cpus, 0.3 + 2 / cpus) == pytest.approx(0.3 + 2 / wanted)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="rise"):
        CpuSearch([2.0, 1.0])
    with pytest.raises(ValueError, match="needs a point"):
        CpuSearch([1.0], 0)
    search = CpuSearch([1.0, 2.0])
    with pytest.raises(ValueError, match="not on the axis"):
        search.add(1.5, 1.0)
    with pytest.raises(ValueError, match="skip"):
        search.add(1.0, float("inf"))
