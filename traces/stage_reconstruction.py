"""The stage costs behind a sensitivity matrix: what storage, CPU and GPU must take. Pure.

A matrix says how fast a model trains, and not why. Taken as the slowest of three stages
(DS-Analyzer, VLDB 2021), its best point is the GPU's, points that CPUs improve are the CPUs', and
points that memory improves are the storage's. All that is found so is ``reconstructed``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from traces.model_profile import Provenance
from traces.sensitivity import Sensitivity
from traces.stage_costs import StageCosts

PROVENANCE: Final[Provenance] = "reconstructed"

ASSUMED_STORAGE_BYTES_PER_S = 62.5e6
"""At which a profile counts as measured whose samples' size is unknown: what one of 8 GPUs has of
the published cluster's 500 MB/s. Only what is read over that rate shows in a matrix."""

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class _Storage:
    """read_bytes: of an iteration. bytes_per_s: per GPU, infinite where storage never shows."""

    read_bytes: float
    dataset_bytes: float
    bytes_per_s: float


_NO_STORAGE = _Storage(0.0, 0.0, float("inf"))


def stage_costs_of(sensitivity: Sensitivity, cpus: float, cache_shared_by: int = 1) -> StageCosts:
    """What an iteration costs one GPU that has ``cpus`` CPUs; ValueError where it has none.

    With ``storage_rate_of`` its time is the matrix's at every point that was measured. Between
    points of memory it is the stages', not the line between the points.

    cpu_s depends on ``cpus``, for threads do not scale perfectly: where CPUs are the slowest stage,
    it is their number times the iteration. On the plateau it is not known: the number of CPUs from
    which on the GPU is slower lies between the last point that is CPU-bound (or 0) and the first
    that is not, and is taken in their middle.

    cache_shared_by: GPUs of the job on the server, which hold the dataset together.
    """
    if not cpus > 0:
        raise ValueError("a pipeline without CPUs prepares nothing")
    most_memory = sensitivity.memory_bytes[-1]
    with_most_memory = sensitivity.throughput[:, -1]
    best = float(with_most_memory[-1])
    gpu_s = sensitivity.iteration_s / best
    here = float(sensitivity.at(cpus, float(most_memory)))
    if here < best * (1 - _TOLERANCE):
        cpu_s = cpus * sensitivity.iteration_s / here
    else:
        first = int(np.argmax(with_most_memory >= best * (1 - _TOLERANCE)))
        below = float(sensitivity.cpus[first - 1]) if first else 0.0
        cpu_s = (below + float(sensitivity.cpus[first])) / 2 * gpu_s
    storage = _storage_of(sensitivity)
    return StageCosts(gpu_s, cpu_s, storage.read_bytes, storage.dataset_bytes / cache_shared_by)


def storage_rate_of(sensitivity: Sensitivity) -> float:
    """Bytes/s per GPU at which the profile must have been measured.

    From a point at which storage is the slowest stage; infinite where the matrix has none.
    """
    return _storage_of(sensitivity).bytes_per_s


def least_storage_rate_of(sensitivity: Sensitivity) -> float:
    """Bytes/s per GPU with which every measured point is as fast as it was measured.

    ``storage_rate_of`` where that is finite; else what the point that reads most must have had.
    """
    storage = _storage_of(sensitivity)
    costs = StageCosts(0.0, 0.0, storage.read_bytes, storage.dataset_bytes)
    iteration_s = sensitivity.iteration_s / sensitivity.throughput[-1]
    read_bytes_per_s = [
        storage.read_bytes * (1 - costs.hit_share(float(memory))) / seconds
        for memory, seconds in zip(sensitivity.memory_bytes, iteration_s, strict=True)
        if memory not in sensitivity.placeholder_memory_bytes
    ]
    return float(max(read_bytes_per_s))


def _storage_of(sensitivity: Sensitivity) -> _Storage:
    """Of the row with the most CPUs: there a point that more memory improves waits for storage.

    Where the dataset is unknown, its size follows from two such points: what is read is in
    proportion to what is not cached, t1 / t2 = (D - m1) / (D - m2). With one such point it is taken
    to fit into the next point's memory. Without any, nothing is read.
    """
    measured = ~np.isin(sensitivity.memory_bytes, sensitivity.placeholder_memory_bytes)
    memory = sensitivity.memory_bytes[measured]
    row = sensitivity.throughput[-1, measured]
    with np.errstate(divide="ignore"):
        iteration_s = sensitivity.iteration_s / row
    bound = int(np.count_nonzero(row < row[-1] * (1 - _TOLERANCE)))
    if sensitivity.dataset_bytes is not None and sensitivity.sample_bytes is not None:
        read = sensitivity.batch_size * sensitivity.sample_bytes
        missed = read * max(1 - float(memory[0]) / sensitivity.dataset_bytes, 0.0)
        shows = bound and missed > 0
        rate = missed / float(iteration_s[0]) if shows else float("inf")
        return _Storage(read, sensitivity.dataset_bytes, rate)
    if not bound:
        return _NO_STORAGE
    first_s, last_s = float(iteration_s[0]), float(iteration_s[bound - 1])
    first, last = float(memory[0]), float(memory[bound - 1])
    dataset = (
        (first_s * last - last_s * first) / (first_s - last_s) if bound > 1 else float(memory[1])
    )
    read = ASSUMED_STORAGE_BYTES_PER_S * first_s / (1 - first / dataset)
    return _Storage(read, dataset, ASSUMED_STORAGE_BYTES_PER_S)
