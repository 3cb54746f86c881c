"""Synergy-OPT's first programme: against the paper's equations, and what it promises."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.opt.configurations import (
    RELATIVE_GAP,
    Capacity,
    Configurations,
    InfeasibleError,
    JobClass,
    choose_configurations,
    prune,
)
from tests.unit.harness.scheduling.opt.builders import (
    CPUS_PER_GPU,
    MEMORY_PER_GPU,
    jobs_of,
    proportional_capacity,
    random_classes,
)

seeds = st.integers(0, 2**32 - 1)


def configurations(
    *rows: tuple[float, float, float], gpu_type: list[int] | None = None
) -> Configurations:
    """Rows of CPUs, memory in GB and throughput."""
    cpus, memory, throughput = np.array(rows, dtype=np.float64).T
    types = np.zeros(len(rows), dtype=np.intp) if gpu_type is None else np.array(gpu_type)
    return Configurations(types, cpus, memory * 1e9, throughput)


def best_by_the_equations(classes: list[JobClass], capacity: Capacity) -> float | None:
    """Equations 1 to 5 as printed: a boolean for each job and configuration; None: infeasible."""
    total, limits = cp.Constant(0.0), []
    used = [[0.0, 0.0, 0.0] for _ in capacity.gpus]
    for each in classes:
        choice = each.configurations
        for _ in range(each.count):
            y = cp.Variable(choice.cpus.size, boolean=True)
            total += (choice.throughput / each.floor) @ y
            limits.append(cp.sum(y) == 1)
            limits.append(choice.throughput @ y >= each.floor * (1 - 1e-9))
            for gpu_type, sums in enumerate(used):
                here = choice.gpu_type == gpu_type
                sums[0] += (each.gpus * here) @ y
                sums[1] += (choice.cpus * here) @ y
                sums[2] += (choice.memory_bytes * here / 1e9) @ y
    for gpu_type, (gpus, cpus, memory) in enumerate(used):
        limits.append(gpus <= capacity.gpus[gpu_type])
        limits.append(cpus <= capacity.cpus[gpu_type])
        limits.append(memory <= capacity.memory_bytes[gpu_type] / 1e9)
    problem = cp.Problem(cp.Maximize(total), limits)
    problem.solve(solver=cp.HIGHS, mip_rel_gap=0.0)
    return None if problem.status == cp.INFEASIBLE else float(problem.value)


@pytest.mark.parametrize("types", [1, 2])
@pytest.mark.parametrize("seed", range(16))
def test_the_plan_is_as_good_as_the_papers_equations_allow(types: int, seed: int) -> None:
    # From too few GPUs to more than enough.
    classes, capacity = random_classes(seed, types, scale=0.7 + 0.1 * (seed % 6))
    best = best_by_the_equations(classes, capacity)
    if best is None:
        with pytest.raises(InfeasibleError):
            choose_configurations(classes, capacity, relative_gap=0.0)
    else:
        plan = choose_configurations(classes, capacity, relative_gap=0.0)
        assert plan.throughput == pytest.approx(best, rel=1e-6)


def test_the_instances_of_the_comparison_are_of_both_kinds() -> None:
    feasible = []
    for seed in range(16):
        try:
            choose_configurations(*random_classes(seed, scale=0.7 + 0.1 * (seed % 6)))
            feasible.append(True)
        except InfeasibleError:
            feasible.append(False)
    assert 4 <= sum(feasible) <= 12


@settings(deadline=None, max_examples=60)
@given(seed=seeds, types=st.integers(1, 3))
def test_a_plan_keeps_floors_and_capacities_and_beats_proportional(seed: int, types: int) -> None:
    classes, capacity = random_classes(seed, types, most_jobs=20)
    plan = choose_configurations(classes, capacity)
    assert [counts.sum() for counts in plan.counts] == [each.count for each in classes]
    assert all((counts >= 0).all() for counts in plan.counts)
    demand, kinds, values = jobs_of(classes, plan)
    assert values.min() >= 1 - 1e-9
    for gpu_type, available in enumerate(capacity.stacked()):
        assert (demand[kinds == gpu_type].sum(axis=0) <= available * (1 + 2e-6)).all()
    assert plan.throughput == pytest.approx(values.sum())
    assert len(values) - 1e-6 <= plan.throughput <= plan.relaxation + 1e-6
    assert 0 <= plan.gap <= RELATIVE_GAP * 1.01


@settings(deadline=None, max_examples=100)
@given(
    rows=st.lists(st.tuples(*[st.integers(1, 4)] * 3, st.integers(0, 1)), min_size=1, max_size=20),
    floor=st.integers(1, 4),
)
def test_pruning_leaves_a_substitute_for_everything(
    rows: list[tuple[int, int, int, int]], floor: int
) -> None:
    given_ = configurations(*(row[:3] for row in rows), gpu_type=[row[3] for row in rows])
    kept = prune(given_, floor)
    for cpus, memory, throughput, gpu_type in rows:
        substitutes = (
            (kept.gpu_type == gpu_type)
            & (kept.cpus <= cpus)
            & (kept.memory_bytes <= memory * 1e9)
            & (kept.throughput >= throughput)
        )
        assert throughput < floor or substitutes.any()
    # Nothing that is kept can stand in for anything else that is kept.
    for index in range(kept.cpus.size):
        no_worse = (
            (kept.gpu_type == kept.gpu_type[index])
            & (kept.cpus <= kept.cpus[index])
            & (kept.memory_bytes <= kept.memory_bytes[index])
            & (kept.throughput >= kept.throughput[index])
        )
        assert no_worse.sum() == 1
    assert (kept.throughput >= floor).all()


def test_pruning_leaves_out_what_was_not_measured() -> None:
    kept = prune(configurations((3, 62, 1.0), (6, 62, np.nan), (12, 62, 2.0)), 1.0)
    assert kept.cpus.tolist() == [3, 12]


def test_cpus_move_from_jobs_that_do_not_use_them() -> None:
    # Two GPUs have 6 CPUs: one for the job that is content, five for the one that is not.
    hungry = configurations((1, 20, 0.3), (3, 62, 1.0), (5, 62, 1.5), (12, 62, 2.0))
    content = configurations((1, 20, 7.0), (3, 62, 7.0), (12, 125, 7.0))
    plan = choose_configurations(
        [JobClass(1, 1, hungry, 1.0), JobClass(1, 1, content, 7.0)], proportional_capacity(2)
    )
    assert [counts.tolist() for counts in plan.counts] == [[0, 0, 1, 0], [1, 0, 0]]
    assert plan.throughput == pytest.approx(2.5)
    assert plan.gap == 0


def test_where_resources_are_plenty_everybody_gets_the_best_and_no_more() -> None:
    wish = configurations((3, 62, 1.0), (9, 62, 2.4), (12, 62, 2.4), (9, 125, 2.4))
    plan = choose_configurations([JobClass(4, 1, wish, 1.0)], proportional_capacity(100))
    assert plan.counts[0].tolist() == [0, 4, 0, 0]
    assert plan.throughput == plan.relaxation == pytest.approx(9.6)


def test_the_unit_of_throughput_does_not_matter() -> None:
    classes, capacity = random_classes(5)
    in_other_units = [
        JobClass(
            each.count,
            each.gpus,
            Configurations(
                each.configurations.gpu_type,
                each.configurations.cpus,
                each.configurations.memory_bytes,
                each.configurations.throughput * factor,
            ),
            each.floor * factor,
        )
        for each, factor in zip(classes, (8.0, 0.25, 64.0, 2.0), strict=False)
    ]
    plan, other = (choose_configurations(each, capacity) for each in (classes, in_other_units))
    assert plan.throughput == other.throughput
    assert all(map(np.array_equal, plan.counts, other.counts))


def test_the_same_classes_have_the_same_plan() -> None:
    classes, capacity = random_classes(11, types=3, most_jobs=20)
    first, second = (choose_configurations(classes, capacity) for _ in range(2))
    assert all(map(np.array_equal, first.counts, second.counts))


def test_jobs_go_to_the_type_on_which_they_gain_most() -> None:
    # Both gain on the second type, which has one GPU.
    much = configurations((3, 62, 1.0), (3, 62, 3.0), gpu_type=[0, 1])
    little = configurations((3, 62, 1.0), (3, 62, 2.0), gpu_type=[0, 1])
    capacity = Capacity(np.array([3, 1]), np.array([9, 3]), np.array([2e11, 1e11]))
    plan = choose_configurations([JobClass(2, 1, little, 1.0), JobClass(2, 1, much, 1.0)], capacity)
    assert [counts.tolist() for counts in plan.counts] == [[2, 0], [1, 1]]


def test_a_type_without_gpus_takes_no_jobs() -> None:
    wish = configurations((3, 62, 1.0), (3, 62, 3.0), gpu_type=[0, 1])
    capacity = Capacity(np.array([2, 0]), np.array([6, 60]), np.array([2e11, 1e12]))
    assert choose_configurations([JobClass(2, 1, wish, 1.0)], capacity).counts[0].tolist() == [2, 0]


def test_as_many_alike_jobs_as_you_like_are_one_class() -> None:
    wish = configurations((1, 20, 0.4), (3, 62, 1.0), (4, 62, 1.2), (12, 100, 2.0))
    content = configurations((1, 20, 1.0), (3, 62, 1.0))
    plan = choose_configurations(
        [JobClass(10**6, 1, wish, 1.0), JobClass(10**6, 1, content, 1.0)],
        proportional_capacity(2 * 10**6),
    )
    assert plan.counts[0].tolist() == [0, 0, 875_000, 125_000]
    assert plan.throughput == pytest.approx(2.3e6)


def test_no_jobs_have_an_empty_plan() -> None:
    plan = choose_configurations([], proportional_capacity(1))
    assert (plan.counts, plan.throughput, plan.gap) == ([], 0.0, 0.0)


class TestInfeasible:
    """The error says which class or which resource."""

    wish = configurations((3, 62.5, 1.0), (6, 62.5, 1.5))

    def test_no_configuration_reaches_a_floor(self) -> None:
        classes = [JobClass(1, 1, self.wish, 1.0), JobClass(1, 1, self.wish, 2.0)]
        with pytest.raises(InfeasibleError, match=r"class 1: .* floor 2; the best has 1\.5"):
            choose_configurations(classes, proportional_capacity(8))

    def test_nothing_was_measured(self) -> None:
        unknown = configurations((3, 62.5, np.nan))
        with pytest.raises(InfeasibleError, match="class 0: no configuration"):
            choose_configurations([JobClass(1, 1, unknown, 1.0)], proportional_capacity(8))

    @pytest.mark.parametrize(
        ("gpus", "cpus", "memory_bytes", "message"),
        [
            (7, 24, 5e11, "at least 8 GPUs for their floors, of 7"),
            (8, 23, 5e11, "at least 24 CPUs for their floors, of 23"),
            (8, 24, 4e11, r"at least 5e\+11 bytes of memory for their floors, of 4e\+11"),
        ],
    )
    def test_a_resource_is_short(
        self, gpus: float, cpus: float, memory_bytes: float, message: str
    ) -> None:
        capacity = Capacity(np.array([gpus]), np.array([cpus]), np.array([memory_bytes]))
        with pytest.raises(InfeasibleError, match=message):
            choose_configurations([JobClass(8, 1, self.wish, 1.0)], capacity)

    def test_each_resource_alone_would_suffice(self) -> None:
        either = configurations((1, 100, 1.0), (6, 20, 1.0))
        capacity = Capacity(np.array([2]), np.array([5]), np.array([150e9]))
        with pytest.raises(InfeasibleError, match="no choice of configurations"):
            choose_configurations([JobClass(2, 1, either, 1.0)], capacity)

    def test_the_gpus_are_of_two_types_that_a_job_cannot_combine(self) -> None:
        wish = configurations((6, 60, 1.0), (6, 60, 1.0), gpu_type=[0, 1])
        capacity = Capacity(np.array([3, 3]), np.array([9, 9]), np.array([2e11, 2e11]))
        with pytest.raises(InfeasibleError):
            choose_configurations([JobClass(3, 2, wish, 1.0)], capacity)


class TestBadInput:
    """Shapes and signs."""

    def test_arrays_of_different_lengths(self) -> None:
        with pytest.raises(ValueError, match="1-D arrays of one length"):
            Capacity(np.ones(1), np.ones(2), np.ones(1))
        with pytest.raises(ValueError, match="1-D arrays of one length"):
            Configurations(np.zeros(1, dtype=np.intp), np.ones(1), np.ones(1), np.ones((1, 1)))

    @pytest.mark.parametrize(("count", "gpus", "floor"), [(0, 1, 1.0), (1, 0, 1.0), (1, 1, 0.0)])
    def test_a_class_without_jobs_gpus_or_floor(self, count: int, gpus: int, floor: float) -> None:
        with pytest.raises(ValueError, match="a job or more"):
            JobClass(count, gpus, configurations((3, 62, 1.0)), floor)

    def test_a_capacity_below_zero(self) -> None:
        with pytest.raises(ValueError, match="below zero"):
            Capacity(np.array([-1.0]), np.ones(1), np.ones(1))

    def test_a_type_that_the_cluster_lacks(self) -> None:
        wish = configurations((CPUS_PER_GPU, MEMORY_PER_GPU / 1e9, 1.0), gpu_type=[1])
        with pytest.raises(ValueError, match="GPU type"):
            choose_configurations([JobClass(1, 1, wish, 1.0)], proportional_capacity(8))
