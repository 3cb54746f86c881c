"""Random pools of servers, sensitivities and jobs, drawn from one seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.job_table import JobTable
from harness.scheduling.demands import Demands, JobKind, build_demands
from traces.sensitivity import Sensitivities, Sensitivity
from traces.server_pool import ServerGroup, ServerPool

GB = 1e9
TYPES = ("v100", "a100")


@dataclass(frozen=True)
class Workload:
    """Jobs on a pool; their kinds fit on it."""

    pool: ServerPool
    demands: Demands
    table: JobTable


def random_pool(rng: np.random.Generator, types: int, gives_storage: bool) -> ServerPool:
    """At most 12 servers of 1 to 16 GPUs, with 1 to 6 CPUs and 20 to 500 GB for each GPU."""
    groups = []
    for gpu_type in TYPES[:types]:
        gpus = int(rng.integers(1, 17))
        groups.append(
            ServerGroup(
                count=int(rng.integers(1, 12 // types + 1)),
                gpus=gpus,
                cpus=gpus * float(rng.choice([1, 2, 2.7, 3, 4, 5, 6])),
                memory_bytes=gpus * GB * float(rng.choice([20, 62.5, 100, 500])),
                storage_bytes_per_s=gpus * rng.uniform(10e6, 500e6) if gives_storage else None,
                gpu_type=gpu_type,
            )
        )
    return ServerPool(tuple(groups))


def random_sensitivity(rng: np.random.Generator, model: str, gpu_type: str) -> Sensitivity:
    """A throughput that rises along CPUs, memory, both or neither, on a random grid."""
    cpus = np.sort(rng.choice(np.arange(1, 25), rng.integers(2, 7), replace=False)).astype(float)
    memory = np.sort(rng.choice([10, 20, 40, 62.5, 125, 187.5, 250], 4, replace=False)) * GB
    steps = rng.random((len(cpus), len(memory))) * (rng.random((len(cpus), len(memory))) < 0.4)
    if rng.random() < 0.5:
        steps[:, 1:] = 0.0
    if rng.random() < 0.3:
        steps[1:] = 0.0
    steps[0, 0] = rng.uniform(0.1, 1)
    throughput = steps.cumsum(axis=0).cumsum(axis=1)
    row, column = rng.integers(len(cpus)), rng.integers(len(memory))
    has_dataset = rng.random() < 0.7
    return Sensitivity(
        model=model,
        kind="image",
        gpu_type=gpu_type,
        batch_size=int(rng.integers(16, 513)),
        iteration_s=rng.uniform(0.05, 2),
        reference_cpus=float(cpus[row]),
        reference_memory_bytes=float(memory[column]),
        cpus=cpus,
        memory_bytes=memory,
        throughput=throughput / throughput[row, column],
        provenance="measured",
        source="a test",
        dataset_bytes=float(rng.choice([5, 150, 1000, 8000])) * GB if has_dataset else None,
        sample_bytes=rng.uniform(1e3, 1e6) if has_dataset else None,
    )


def random_workload(
    rng: np.random.Generator,
    *,
    types: int = 1,
    gives_storage: bool = False,
    jobs: int = 60,
    mean_gap_s: float = 0.0,
    mean_iterations: float = 1000.0,
) -> Workload:
    """``jobs`` jobs of a few kinds. With two types, some models have a profile for one only."""
    pool = random_pool(rng, types, gives_storage)
    entries = []
    for number in range(rng.integers(1, 5)):
        profiled = [one for one in TYPES[:types] if rng.random() < 0.8] or [TYPES[0]]
        entries += [random_sensitivity(rng, f"model{number}", one) for one in profiled]
    sensitivities = Sensitivities(tuple(entries))
    kinds = []
    for model in sensitivities.models:
        # Where a model runs on one type only, its jobs have to fit there.
        able = [group for group in pool.groups if sensitivities.find(model, group.gpu_type)]
        largest = min(group.count * group.gpus for group in able)
        sizes = {1, *rng.integers(1, min(largest, 4) + 1, 2), rng.integers(1, largest + 1)}
        kinds += [JobKind(model, int(size)) for size in sizes]
    kind = rng.integers(0, len(kinds), jobs)
    table = JobTable.of(
        np.cumsum(rng.exponential(mean_gap_s, jobs)) if mean_gap_s else np.zeros(jobs),
        kind,
        np.array([each.num_gpus for each in kinds], dtype=np.int64)[kind],
        np.ceil(rng.exponential(mean_iterations, jobs)),
    )
    return Workload(pool, build_demands(kinds, sensitivities, pool), table)


def used_by_server(
    pool: ServerPool, servers: NDArray[np.int64], amounts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum of ``amounts`` (rows, ...) on each server."""
    total = np.zeros((pool.num_servers, *amounts.shape[1:]))
    np.add.at(total, servers, amounts)
    return total
