"""Random classes of jobs, and the plan of a class as one row a job."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.scheduling.opt.configurations import (
    Capacity,
    ConfigurationPlan,
    Configurations,
    JobClass,
)

CPUS_PER_GPU = 3.0
MEMORY_PER_GPU = 62.5e9


def proportional_capacity(gpus: float) -> Capacity:
    """One type, with the CPUs and the memory of Synergy's servers for each GPU."""
    return Capacity(
        np.array([gpus]), np.array([gpus * CPUS_PER_GPU]), np.array([gpus * MEMORY_PER_GPU])
    )


def random_class(rng: np.random.Generator, types: int, most_jobs: int) -> JobClass:
    """Throughput grows with CPUs and memory up to a random point, on a random grid for each type.

    The last point of a grid is the proportional share; on the first type it sets the floor.
    """
    gpus = int(rng.choice([1, 2, 4]))
    columns = []
    floor = 0.0
    for gpu_type in range(types):
        knee = rng.uniform([1, 20e9], [12, 250e9])
        speed = rng.uniform(5, 20)
        cpus = np.append(rng.choice(np.arange(1, 13), 3, replace=False), CPUS_PER_GPU)
        memory = np.append(rng.uniform(20e9, 250e9, 2), MEMORY_PER_GPU)
        grid = np.stack([axis.ravel() for axis in np.meshgrid(cpus, memory)], axis=1)
        prepared, cached = np.minimum(grid / knee, 1.0).T
        throughput = speed * prepared * (0.5 + 0.5 * cached)
        if gpu_type == 0:
            floor = float(throughput[-1])
        columns.append(np.column_stack((np.full(len(grid), gpu_type), grid * gpus, throughput)))
    kind, cpus, memory, throughput = np.concatenate(columns).T
    configurations = Configurations(kind.astype(np.intp), cpus, memory, throughput)
    return JobClass(int(rng.integers(1, most_jobs + 1)), gpus, configurations, floor)


def random_classes(
    seed: int, types: int = 1, most_jobs: int = 3, scale: float = 1.0
) -> tuple[list[JobClass], Capacity]:
    """One to four classes, and a capacity of ``scale`` times their GPUs of the first type."""
    rng = np.random.default_rng(seed)
    classes = [random_class(rng, types, most_jobs) for _ in range(rng.integers(1, 5))]
    gpus = np.full(types, np.ceil(scale * sum(each.count * each.gpus for each in classes)))
    gpus[1:] = rng.integers(0, 5, types - 1)
    return classes, Capacity(gpus, gpus * CPUS_PER_GPU, gpus * MEMORY_PER_GPU)


def jobs_of(
    classes: list[JobClass], plan: ConfigurationPlan
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Demand of each job, shape (jobs, 3), its type, and its throughput relative to its floor."""
    demand, kinds, values = [], [], []
    for each, counts in zip(classes, plan.counts, strict=True):
        chosen = each.configurations.take(np.repeat(np.arange(counts.size), counts))
        gpus = np.full(chosen.cpus.size, float(each.gpus))
        demand.append(np.column_stack((gpus, chosen.cpus, chosen.memory_bytes)))
        kinds.append(chosen.gpu_type)
        values.append(chosen.throughput / each.floor)
    return np.concatenate(demand), np.concatenate(kinds), np.concatenate(values)
