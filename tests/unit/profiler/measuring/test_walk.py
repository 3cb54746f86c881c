"""Which points are measured, and what is modelled from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from profiler.allocation import Allocation
from profiler.limits.memory_speed import MemorySpeed
from profiler.limits.storage_speed import StorageSpeed
from profiler.measuring.fetching import FetchingSource, MachineSpeeds
from profiler.measuring.walk import PointGrid, random_points, speed_model
from profiler.sensitivity.measured_point import MeasuredPoint, Purpose
from profiler.sensitivity.memory_model import optimistic_matrix

DATASET, BATCH = 1e9, 1e7
GRID = PointGrid((1.0, 1.25, 1.5, 1.75, 2.0), (0, 250_000_000, 500_000_000, 10**9))


def speeds(storage_bytes_per_s: float) -> MachineSpeeds:
    storage = StorageSpeed(storage_bytes_per_s, (1, 2), 1.0, 2, 100, 100, 1.0)
    return MachineSpeeds((storage,), MemorySpeed(1e12, (1, 2), 2, 1000, 10**6), 1.0)


class Measured:
    """Measures at once, and remembers what was asked."""

    def __init__(self, storage_bytes_per_s: float, cpu_s: float = 0.2, gpu_s: float = 0.1) -> None:
        self.storage_bytes_per_s, self.cpu_s, self.gpu_s = storage_bytes_per_s, cpu_s, gpu_s
        self.points: list[MeasuredPoint] = []

    def iteration_s(self, allocation: Allocation) -> float:
        missed = BATCH * (1 - allocation.cache_bytes / DATASET)
        return max(self.gpu_s, self.cpu_s / allocation.cpus, missed / self.storage_bytes_per_s)

    def __call__(self, allocation: Allocation, purpose: Purpose) -> MeasuredPoint | None:
        time_s = self.iteration_s(allocation)
        point = MeasuredPoint(allocation, purpose, iteration_s=time_s, interval_s=(time_s, time_s))
        self.points.append(point)
        return point


@pytest.mark.parametrize("storage", [20e6, 80e6, 1e12])
def test_few_points_give_the_whole_matrix(storage: float) -> None:
    measure = Measured(storage)
    model = speed_model(GRID, measure, FetchingSource(DATASET, BATCH, speeds(storage)))
    assert model is not None
    assert len(measure.points) <= 5
    matrix = optimistic_matrix(model.curve, GRID.cache_bytes, model.fetching)
    true = [
        [measure.iteration_s(Allocation(cpus, cache)) for cache in GRID.cache_bytes]
        for cpus in GRID.cpus
    ]
    assert np.abs(matrix / true - 1).max() < 0.03
    assert all(model.rests_on(GRID, point) for point in measure.points)


def test_where_storage_cannot_be_measured_it_is_seen_in_training() -> None:
    measure = Measured(20e6)
    model = speed_model(GRID, measure, FetchingSource(DATASET, BATCH, None))
    assert model is not None
    assert measure.points[-1].allocation == Allocation(2.0, 0)
    matrix = optimistic_matrix(model.curve, GRID.cache_bytes, model.fetching)
    for column, cache in enumerate(GRID.cache_bytes):
        assert matrix[-1, column] == pytest.approx(measure.iteration_s(Allocation(2.0, cache)))


class MeasuredCpus(Measured):
    """Its misses take CPU time, and the kernel tells how much of it an iteration took."""

    MISS_CPU_S = 0.03

    def __call__(self, allocation: Allocation, purpose: Purpose) -> MeasuredPoint | None:
        point = super().__call__(allocation, purpose)
        assert point is not None
        used_s = self.iteration_s(allocation) * allocation.cpus
        return replace(point, iterations=1, evidence={"point": {"cpu": {"used_s": used_s}}})

    def iteration_s(self, allocation: Allocation) -> float:
        missed = 1 - allocation.cache_bytes / DATASET
        return (self.cpu_s + self.MISS_CPU_S * missed) / allocation.cpus


def test_misses_that_take_cpu_time_cost_more_with_fewer_cpus() -> None:
    measure = MeasuredCpus(1e12)
    source = FetchingSource(DATASET, BATCH, speeds(400e6))  # by which fetching may take a while
    model = speed_model(GRID, measure, source)
    assert model is not None
    assert model.fetching.miss_cpu_s == pytest.approx(measure.MISS_CPU_S)
    assert model.fetching.overlap == 1.0
    matrix = optimistic_matrix(model.curve, GRID.cache_bytes, model.fetching)
    true = [
        [measure.iteration_s(Allocation(cpus, cache)) for cache in GRID.cache_bytes]
        for cpus in GRID.cpus
    ]
    assert matrix == pytest.approx(np.array(true), rel=0.01)


def test_what_is_not_known_yet_ends_the_walk() -> None:
    measure = Measured(1e12)

    def first_two(allocation: Allocation, purpose: Purpose) -> MeasuredPoint | None:
        return measure(allocation, purpose) if len(measure.points) < 2 else None

    model = speed_model(GRID, first_two, FetchingSource(DATASET, BATCH, speeds(1e12)))
    assert model is not None
    assert model.curve.measured.tolist() == [True, False, False, False, True]
    assert model.seen is None
    nothing = speed_model(GRID, lambda *_: None, FetchingSource(DATASET, BATCH, None))
    assert nothing is None


def test_points_without_a_time_are_passed_over() -> None:
    measure = Measured(1e12)

    def but_two(allocation: Allocation, purpose: Purpose) -> MeasuredPoint | None:
        if allocation.cpus == 2.0:
            return MeasuredPoint(allocation, purpose, state="failed", reason="died")
        return measure(allocation, purpose)

    model = speed_model(GRID, but_two, FetchingSource(DATASET, BATCH, speeds(1e12)))
    assert model is not None
    assert model.curve.at(np.array([1.75]))[0] == pytest.approx(0.2 / 1.75)


def test_random_points_are_others_and_the_same_after_an_interruption() -> None:
    measure = Measured(1e12)
    speed_model(GRID, measure, FetchingSource(DATASET, BATCH, speeds(1e12)))
    chosen = random_points(GRID, measure.points, 6, seed=3)
    assert len(set(chosen)) == 6
    assert not {point.allocation for point in measure.points} & set(chosen)
    check = [MeasuredPoint(chosen[0], "check", state="failed", reason="stopped")]
    assert random_points(GRID, measure.points + check, 6, seed=3) == chosen
    assert len(random_points(GRID, measure.points, 1000, seed=3)) == 20 - len(measure.points)


@pytest.mark.parametrize(("cpus", "most"), [(1, 3), (4, 3), (5, 3), (8, 6), (24, 8)])
def test_a_search_and_what_comes_with_it_take_a_fifth_of_the_grid(cpus: int, most: int) -> None:
    grid = PointGrid(tuple(float(each + 1) for each in range(cpus)), (0, 1, 2, 3, 4))
    assert grid.most_searched == most


def test_the_grid_begins_with_full_memory() -> None:
    allocations = GRID.allocations()
    assert len(allocations) == 20
    assert allocations[0] == GRID.first == Allocation(2.0, 10**9)
    assert [a.cache_bytes for a in allocations] == sorted(
        (a.cache_bytes for a in allocations), reverse=True
    )
