"""The model of memory against pipelines whose times are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.allocation import Allocation
from profiler.sensitivity.cpu_curve import CpuCurve
from profiler.sensitivity.measured_point import MeasuredPoint
from profiler.sensitivity.memory_model import Fetching, check, optimistic_matrix, with_overlap
from traces.stage_costs import StageCosts

CPUS = np.array([1.0, 2.0, 3.0, 4.0])
CACHES = np.array([0.0, 25e6, 50e6, 75e6, 100e6])
DATASET = 100e6
BATCH = 10e6


def curve_of(gpu_s: float, cpu_s: float) -> CpuCurve:
    measured = np.ones(len(CPUS), dtype=bool)
    times = np.maximum(gpu_s, cpu_s / CPUS)
    return CpuCurve(CPUS, times, measured, np.zeros(len(CPUS)), 0.0)


def test_the_cpu_time_of_misses_is_shared_by_the_cpus() -> None:
    fetching = Fetching(DATASET, BATCH, 1e12, miss_cpu_s=0.2)
    matrix = optimistic_matrix(curve_of(0.0, 1.2), CACHES, fetching)
    missed = 1 - CACHES / DATASET
    assert matrix == pytest.approx((1.2 + 0.2 * missed)[None, :] / CPUS[:, None])
    hidden = optimistic_matrix(curve_of(1.0, 0.4), CACHES, fetching)
    assert hidden == pytest.approx(np.ones_like(hidden)), "the GPU takes longer"


@pytest.mark.parametrize("overlap", [0.0, 1.0])
def test_with_the_cache_of_the_curve_it_is_the_curve(overlap: float) -> None:
    curve, half = curve_of(0.0, 1.2), DATASET / 2
    fetching = Fetching(DATASET, BATCH, 1e8, overlap=overlap, miss_cpu_s=0.2, full_cache_bytes=half)
    matrix = optimistic_matrix(curve, [0.0, half], fetching)
    assert matrix[:, 1] == pytest.approx(curve.iteration_s)
    assert (matrix[:, 0] > curve.iteration_s).all()


def point(cpus: float, cache_bytes: float, iteration_s: float) -> MeasuredPoint:
    return MeasuredPoint(
        Allocation(cpus, int(cache_bytes)),
        purpose="check",
        iteration_s=iteration_s,
        interval_s=(iteration_s, iteration_s),
    )


@given(
    gpu_s=st.floats(0.05, 2),
    cpu_s=st.floats(0.05, 2),
    storage=st.floats(1e6, 1e9),
)
def test_with_overlap_it_is_the_slowest_of_three_stages(
    gpu_s: float, cpu_s: float, storage: float
) -> None:
    costs = StageCosts(gpu_s, cpu_s, BATCH, DATASET)
    matrix = optimistic_matrix(curve_of(gpu_s, cpu_s), CACHES, Fetching(DATASET, BATCH, storage))
    for (row, column), found in np.ndenumerate(matrix):
        expected = costs.iteration_s(float(CPUS[row]), float(CACHES[column]), storage)
        assert found == pytest.approx(expected)


def test_an_epoch_of_hits_and_misses_takes_what_the_paper_says() -> None:
    """T_store(C) = C / memory rate + (D - C) / storage rate, here of 10 iterations an epoch."""
    fetching = Fetching(DATASET, BATCH, storage_bytes_per_s=20e6, memory_bytes_per_s=50e6)
    matrix = optimistic_matrix(curve_of(0.01, 0.01), CACHES, fetching)
    assert matrix[0] * 10 == pytest.approx(CACHES / 50e6 + (DATASET - CACHES) / 20e6)


def test_without_overlap_workers_fetch_and_then_prepare() -> None:
    fetching = Fetching(DATASET, BATCH, storage_bytes_per_s=20e6, overlap=0.0)
    matrix = optimistic_matrix(curve_of(0.3, 1.2), CACHES, fetching)
    # 1.2 s of CPU: hidden by the GPU with 4 CPUs; 0.5 s of fetching with nothing cached.
    assert matrix[:, 0] == pytest.approx([1.2 + 0.5, 0.6 + 0.5, 0.4 + 0.5, 0.3 + 0.5])
    assert matrix[:, -1] == pytest.approx([1.2, 0.6, 0.4, 0.3])


def test_the_gpu_hides_what_workers_do_meanwhile() -> None:
    fetching = Fetching(DATASET, BATCH, storage_bytes_per_s=50e6, overlap=0.0)
    matrix = optimistic_matrix(curve_of(1.0, 1.2), CACHES, fetching)
    assert matrix[0, 0] == pytest.approx(1.4)
    # 1.2 / 2 to prepare and 0.2 to fetch are less than the GPU's 1.0.
    assert matrix[1, 0] == pytest.approx(1.0)


@given(
    gpu_s=st.floats(0.05, 2),
    cpu_s=st.floats(0.05, 2),
    storage=st.floats(1e6, 1e9),
    memory=st.floats(1e6, 1e10),
    overlap=st.floats(0, 1),
)
def test_neither_more_cpus_nor_faster_memory_slow_it_down(
    gpu_s: float, cpu_s: float, storage: float, memory: float, overlap: float
) -> None:
    fetching = Fetching(DATASET, BATCH, min(storage, memory), memory, overlap)
    curve = curve_of(gpu_s, cpu_s)
    matrix = optimistic_matrix(curve, CACHES, fetching)
    assert np.all(np.diff(matrix, axis=0) <= 1e-9)
    assert np.all(np.diff(matrix, axis=1) <= 1e-9)
    full_s = np.maximum(curve.iteration_s, BATCH / memory)
    assert matrix[:, -1] == pytest.approx(full_s)


def test_a_rate_of_storage_for_each_number_of_readers() -> None:
    rates = np.array([10e6, 20e6, 40e6, 40e6])
    matrix = optimistic_matrix(curve_of(0.01, 0.01), [0.0], Fetching(DATASET, BATCH, rates))
    assert matrix[:, 0] == pytest.approx(BATCH / rates)


def test_nothing_to_read_needs_no_memory() -> None:
    matrix = optimistic_matrix(curve_of(0.3, 0.6), CACHES, Fetching(0.0, 0.0, float("inf")))
    assert np.all(matrix == matrix[:, :1])


@pytest.mark.parametrize("overlap", [1.0, 0.7, 0.0])
def test_overlap_is_found_from_points_with_less_memory(overlap: float) -> None:
    curve = curve_of(0.1, 1.2)
    true = Fetching(DATASET, BATCH, storage_bytes_per_s=20e6, overlap=overlap)
    matrix = optimistic_matrix(curve, CACHES, true)
    points = [point(4.0, 0.0, matrix[3, 0]), point(1.0, 0.0, matrix[0, 0])]
    unknown = Fetching(DATASET, BATCH, storage_bytes_per_s=20e6)
    assert with_overlap(curve, unknown, points).overlap == pytest.approx(overlap)
    assert with_overlap(curve, unknown, []).overlap == 1.0


def test_points_that_do_not_depend_on_it_leave_overlap_at_the_papers() -> None:
    curve = curve_of(0.1, 1.2)
    fetching = Fetching(DATASET, BATCH, storage_bytes_per_s=20e6)
    assert with_overlap(curve, fetching, [point(1.0, DATASET, 1.2)]).overlap == 1.0


def test_a_check_says_the_errors_by_point() -> None:
    curve = curve_of(0.1, 1.2)
    fetching = Fetching(DATASET, BATCH, storage_bytes_per_s=20e6)
    failed = MeasuredPoint(Allocation(1.0, 0), state="failed", reason="it ended")
    points = [point(1.0, DATASET, 1.2), point(2.0, DATASET, 0.66), point(4.0, 0.0, 0.45), failed]
    checked = check(curve, fetching, points)
    assert [error for _, error in checked.by_point] == pytest.approx([0.0, 0.1, -0.1])
    assert (checked.median, checked.worst) == pytest.approx((0.1, 0.1))
    with pytest.raises(ValueError, match="nothing"):
        _ = check(curve, fetching, [failed]).median
    with pytest.raises(ValueError, match="not on the axis"):
        check(curve, fetching, [point(1.5, 0.0, 1.0)])
