"""Synergy-OPT's first programme: CPUs and memory of every job, on one super-machine.

(OSDI'22, equations 1 to 5.) Jobs that are alike form one class, and integer counts of (class,
configuration) take the place of the paper's binary y for (job, configuration): the same programme,
in ten rows instead of a hundred. Constraint 5, the floor, is met by leaving out configurations
below it, and so are those that cost more than a better one; the linear relaxation is then nearly
tight. The best plan is no worse than any allocation of the same configurations to real servers
(Theorem 4.1).

The result is proven to be within a relative gap of the best, by branch and bound: to round the
linear relaxation took as long and came within 1 % only. Measured with the published profiles of ten
models in 45 configurations: 1 to 3 ms where the relaxation is integral and 3 to 10 ms where not, at
128 as at 512 GPUs. Irregular profiles take 10 to 170 ms, and forty classes of them on three GPU
types 1 s.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, OptimizeResult, milp
from scipy.sparse import csc_array

RELATIVE_GAP = 1e-3
"""Far below what a profile's throughput is accurate to."""

_TOLERANCE = 1e-6
"""HiGHS' own for rows and integers. Rows are in shares of a capacity."""


class InfeasibleError(ValueError):
    """No allocation meets all constraints: says which resource or job is in the way."""


@dataclass(frozen=True)
class Capacity:
    """GPUs, CPUs and memory, shape (GPU types,) or (servers,)."""

    gpus: NDArray[np.float64]
    cpus: NDArray[np.float64]
    memory_bytes: NDArray[np.float64]

    def __post_init__(self) -> None:
        _require_parallel(self)
        if not all((getattr(self, each.name) >= 0).all() for each in fields(self)):
            raise ValueError("capacities are not below zero")

    def stacked(self) -> NDArray[np.float64]:
        """Shape (types or servers, 3): GPUs, CPUs, memory."""
        return np.column_stack((self.gpus, self.cpus, self.memory_bytes)).astype(np.float64)


@dataclass(frozen=True)
class Configurations:
    """What one job may be given, shape (configurations,): totals for the job, not per GPU.

    gpu_type: index into the capacity. throughput: in any unit, the same as the floor's; NaN where
    it was not measured.
    """

    gpu_type: NDArray[np.intp]
    cpus: NDArray[np.float64]
    memory_bytes: NDArray[np.float64]
    throughput: NDArray[np.float64]

    def __post_init__(self) -> None:
        _require_parallel(self)

    def take(self, indices: NDArray[np.intp]) -> Configurations:
        """Those at ``indices``."""
        return Configurations(*(getattr(self, each.name)[indices] for each in fields(self)))


@dataclass(frozen=True)
class JobClass:
    """``count`` jobs that are alike: ``gpus`` each, the same configurations.

    floor: throughput of one of them with its GPU-proportional share (the right side of equation 5).
    The proportional share should be among the configurations: only then can the floor always be
    met.
    """

    count: int
    gpus: int
    configurations: Configurations
    floor: float

    def __post_init__(self) -> None:
        if self.count < 1 or self.gpus < 1 or not self.floor > 0:
            raise ValueError("a class has a job or more, each with a GPU or more, a floor above 0")


@dataclass(frozen=True)
class ConfigurationPlan:
    """How many jobs of each class get which configuration.

    counts: for each class, shape (configurations,), in the order that was given.
    throughput: summed over jobs, each relative to its floor (the paper's W); so the proportional
    allocation has the number of jobs, and a job counts the same whatever its GPUs.
    relaxation: the same with fractions of jobs allowed; no allocation exceeds it.
    gap: by how much the best plan can exceed this one, as a share of this one.
    """

    counts: list[NDArray[np.int64]]
    throughput: float
    relaxation: float
    gap: float
    solve_s: float


@dataclass(frozen=True)
class _Programme:
    """Columns are the kept configurations of all classes; rows, classes and then capacities."""

    value: NDArray[np.float64]
    rows: csc_array[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def solve(self, integral: bool, relative_gap: float) -> OptimizeResult | None:
        """HiGHS' result for the largest value; None where there is no solution."""
        result = milp(
            -self.value,
            integrality=np.full(self.value.size, int(integral)),
            constraints=LinearConstraint(self.rows, self.lower, self.upper),
            options={"mip_rel_gap": relative_gap},
        )
        if result.status == 2:
            return None
        if result.x is None:
            raise RuntimeError(f"HiGHS failed: {result.message}")
        return result

    def admits(self, columns: NDArray[np.float64]) -> bool:
        """Whether ``columns`` meet every row."""
        sums = np.asarray(self.rows @ columns)
        slack = 2 * _TOLERANCE
        return bool((sums >= self.lower - slack).all() and (sums <= self.upper + slack).all())


def prune(configurations: Configurations, floor: float) -> Configurations:
    """Without those below ``floor`` and those that another one of the same type dominates.

    Dominated: no fewer CPUs, no less memory, no more throughput. Of equal ones the first stays. No
    best plan gets worse by it.
    """
    return configurations.take(_undominated(configurations, floor))


def choose_configurations(
    classes: Sequence[JobClass], capacity: Capacity, relative_gap: float = RELATIVE_GAP
) -> ConfigurationPlan:
    """The plan with the largest summed throughput, within ``relative_gap`` of the best.

    ``capacity`` is by GPU type. No job is below its floor, and every capacity is kept within one
    millionth. The same classes always give the same plan. Raises InfeasibleError where the floors
    cannot be met.
    """
    started_s = time.perf_counter()
    if not classes:
        return ConfigurationPlan([], 0.0, 0.0, 0.0, time.perf_counter() - started_s)
    kept = [_undominated(each.configurations, each.floor) for each in classes]
    programme = _programme(classes, kept, capacity)
    relaxed = programme.solve(integral=False, relative_gap=0.0)
    best = relaxed
    # A fifth of the time of branch and bound, and often integral where resources are plentiful.
    if relaxed is not None and np.abs(relaxed.x - np.rint(relaxed.x)).max() > _TOLERANCE:
        best = programme.solve(integral=True, relative_gap=relative_gap)
    if relaxed is None or best is None:
        raise InfeasibleError(_why_infeasible(classes, kept, capacity))
    columns = np.rint(best.x)
    if not programme.admits(columns):
        raise RuntimeError("HiGHS returned counts that exceed a capacity")
    throughput = float(programme.value @ columns)
    bound = -relaxed.fun if best is relaxed else min(-relaxed.fun, -best.mip_dual_bound)
    return ConfigurationPlan(
        counts=_by_class(classes, kept, columns),
        throughput=throughput,
        relaxation=float(-relaxed.fun),
        gap=max(float(bound) / throughput - 1.0, 0.0),
        solve_s=time.perf_counter() - started_s,
    )


def _undominated(configurations: Configurations, floor: float) -> NDArray[np.intp]:
    """Indices of what ``prune`` keeps, ascending."""
    # A floor that was interpolated and a throughput that was not may differ in the last digits.
    above = np.flatnonzero(configurations.throughput >= floor * (1 - 1e-9))
    left = configurations.take(above)
    # no_better[a, b]: a has nothing that b lacks
    no_better = (
        (left.gpu_type[:, None] == left.gpu_type)
        & (left.cpus[:, None] >= left.cpus)
        & (left.memory_bytes[:, None] >= left.memory_bytes)
        & (left.throughput[:, None] <= left.throughput)
    )
    earlier = np.tri(above.size, k=-1, dtype=np.bool_)
    dominated = no_better & (~no_better.T | earlier)
    return np.asarray(above[~dominated.any(axis=1)])


def _programme(
    classes: Sequence[JobClass], kept: Sequence[NDArray[np.intp]], capacity: Capacity
) -> _Programme:
    """Equations 1 to 4 for counts, with GPUs beside CPUs and memory for each type of GPU."""
    for index, (each, indices) in enumerate(zip(classes, kept, strict=True)):
        if not indices.size:
            best = np.nanmax(each.configurations.throughput, initial=0.0)
            raise InfeasibleError(
                f"class {index}: no configuration reaches the floor {each.floor:g}; the best has "
                f"{best:g}"
            )
    sizes = [indices.size for indices in kept]
    class_of = np.repeat(np.arange(len(classes)), sizes)
    pruned = [each.configurations.take(i) for each, i in zip(classes, kept, strict=True)]
    gpu_type = np.concatenate([each.gpu_type for each in pruned])
    available = capacity.stacked()
    if gpu_type.min() < 0 or gpu_type.max() >= len(available):
        raise ValueError(f"a configuration's GPU type is not one of {len(available)}")
    demand = np.column_stack(
        (
            np.repeat([each.gpus for each in classes], sizes),
            np.concatenate([each.cpus for each in pruned]),
            np.concatenate([each.memory_bytes for each in pruned]),
        )
    )
    # Shares of a capacity: bytes and CPUs in one matrix would be beyond the solver's precision.
    unit = np.where(available > 0, available, 1.0)
    entries = np.column_stack((np.ones(class_of.size), demand / unit[gpu_type]))
    row = np.column_stack((class_of, len(classes) + 3 * gpu_type[:, None] + np.arange(3)))
    counts = np.array([each.count for each in classes], dtype=np.float64)
    return _Programme(
        value=np.concatenate(
            [each.throughput / of.floor for each, of in zip(pruned, classes, strict=True)]
        ),
        rows=csc_array(
            (entries.ravel(), row.ravel(), np.arange(0, entries.size + 1, 4)),
            shape=(len(classes) + available.size, class_of.size),
        ),
        lower=np.concatenate((counts, np.full(available.size, -np.inf))),
        upper=np.concatenate((counts, (available / unit).ravel())),
    )


def _by_class(
    classes: Sequence[JobClass], kept: Sequence[NDArray[np.intp]], columns: NDArray[np.float64]
) -> list[NDArray[np.int64]]:
    """Columns of the programme as counts over all configurations of each class."""
    counts = [np.zeros(each.configurations.cpus.size, dtype=np.int64) for each in classes]
    ends = np.cumsum([indices.size for indices in kept])
    for each, indices, part in zip(counts, kept, np.split(columns, ends[:-1]), strict=True):
        each[indices] = part
    return counts


def _why_infeasible(
    classes: Sequence[JobClass], kept: Sequence[NDArray[np.intp]], capacity: Capacity
) -> str:
    """The first resource that falls short though every job takes as little of it as it can."""
    pruned = [each.configurations.take(i) for each, i in zip(classes, kept, strict=True)]
    least = {
        "GPUs": [each.gpus for each in classes],
        "CPUs": [each.cpus.min() for each in pruned],
        "bytes of memory": [each.memory_bytes.min() for each in pruned],
    }
    for (name, each_least), available in zip(
        least.items(), capacity.stacked().sum(axis=0), strict=True
    ):
        needed = sum(of.count * each for of, each in zip(classes, each_least, strict=True))
        if needed > available:
            return f"the jobs need at least {needed:g} {name} for their floors, of {available:g}"
    return "no choice of configurations meets all floors within the GPUs, CPUs and memory"


def _require_parallel(arrays: Capacity | Configurations) -> None:
    shapes = {getattr(arrays, each.name).shape for each in fields(arrays)}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ValueError(f"{type(arrays).__name__} takes 1-D arrays of one length")
