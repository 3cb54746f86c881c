"""What jobs of each kind wish for, what their fair share is, and how fast both make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from traces.sensitivity import Sensitivities, Sensitivity
from traces.server_pool import ServerGroup, ServerPool

Floats = NDArray[np.float64]
Speeds = Literal["matrix", "two-point"]

_CPUS, _MEMORY, _STORAGE = range(3)


@dataclass(frozen=True)
class JobKind:
    """Jobs of one model with the same number of GPUs; all of them want and get alike."""

    model: str
    num_gpus: int


@dataclass(frozen=True)
class Grid:
    """What a job of one kind may be given on one type of GPU: 1-D arrays of equal length.

    cpus, memory_bytes: per GPU; the points of the sensitivity matrix that a server can give, and
    the fair share. iteration_s: with them.
    """

    cpus: Floats
    memory_bytes: Floats
    iteration_s: Floats


@dataclass(frozen=True)
class Demands:
    """Tables over kinds of jobs (first axis) and types of GPU (second).

    wish, fair: (kinds, types, RESOURCES) per GPU: the cheapest configuration that is as fast as the
    server allows, and the GPU-proportional share. wish_iteration_s, fair_iteration_s: (kinds,
    types), seconds of one iteration with them; infinite where the model has no profile for the
    type. above_fair: where the wish exceeds the fair share in any resource. grids: all that could
    be given, None where the model has no profile for the type.
    """

    kinds: tuple[JobKind, ...]
    wish: Floats
    fair: Floats
    wish_iteration_s: Floats
    fair_iteration_s: Floats
    above_fair: NDArray[np.bool_]
    grids: tuple[tuple[Grid | None, ...], ...]


def build_demands(
    kinds: Sequence[JobKind],
    sensitivities: Sensitivities,
    pool: ServerPool,
    speeds: Speeds = "matrix",
) -> Demands:
    """The tables for ``kinds`` on ``pool``.

    speeds: ``matrix`` reads both speeds from the sensitivity matrix; ``two-point`` takes the
    published simulator's speed-up at the ideal demand and 1 at the fair share (its semantics).
    Raises KeyError where a model has no profile for any type of GPU, ValueError where it does not
    progress with its fair share.
    """
    shape = (len(kinds), len(pool.groups))
    wish = np.zeros((*shape, 3))
    fair = np.broadcast_to(pool.fair_share, (*shape, 3)).copy()
    wish_s, fair_s = np.full(shape, np.inf), np.full(shape, np.inf)
    grids = []
    for row, kind in enumerate(kinds):
        grids.append([_grid(sensitivities, kind, group) for group in pool.groups])
        for column, group in enumerate(pool.groups):
            sensitivity = sensitivities.find(kind.model, group.gpu_type)
            if sensitivity is None:
                continue
            decide = _from_matrix if speeds == "matrix" else _from_two_points
            share, wish_s[row, column], fair_s[row, column] = decide(
                sensitivity, kind.num_gpus, group, fair[row, column]
            )
            wish[row, column] = share
        if not np.isfinite(fair_s[row]).any():
            raise KeyError(kind.model)
    above: NDArray[np.bool_] = np.any(wish > fair * (1 + 1e-12), axis=2)
    return Demands(tuple(kinds), wish, fair, wish_s, fair_s, above, tuple(map(tuple, grids)))


def insensitive_demands(
    num_gpus: Sequence[int], iteration_s: Sequence[float], pool: ServerPool
) -> Demands:
    """Tables for jobs that nothing is known of but the time of an iteration, (kinds,).

    It stays the same wherever they run and with whatever share; they wish for their fair share.
    """
    shape = (len(num_gpus), len(pool.groups))
    fair = np.broadcast_to(pool.fair_share, (*shape, 3)).copy()
    seconds = np.repeat(np.array(iteration_s, dtype=float)[:, None], shape[1], axis=1)
    grids = tuple(
        tuple(
            Grid(np.array([share[_CPUS]]), np.array([share[_MEMORY]]), np.array([one_s]))
            for share in pool.fair_share
        )
        for one_s in iteration_s
    )
    return Demands(
        kinds=tuple(JobKind("", gpus) for gpus in num_gpus),
        wish=fair.copy(),
        fair=fair,
        wish_iteration_s=seconds,
        fair_iteration_s=seconds.copy(),
        above_fair=np.zeros(shape, dtype=np.bool_),
        grids=grids,
    )


def _grid(sensitivities: Sensitivities, kind: JobKind, group: ServerGroup) -> Grid | None:
    sensitivity = sensitivities.find(kind.model, group.gpu_type)
    if sensitivity is None:
        return None
    most = _most_of_a_server(kind.num_gpus, group)
    points = np.meshgrid(
        _up_to(sensitivity.cpus, most[_CPUS]),
        _up_to(sensitivity.memory_bytes, most[_MEMORY]),
        indexing="ij",
    )
    cpus = np.append(points[0].ravel(), group.cpus / group.gpus)
    memory = np.append(points[1].ravel(), group.memory_bytes / group.gpus)
    throughput = sensitivity.at(cpus, memory)
    useful = throughput > 0
    return Grid(cpus[useful], memory[useful], sensitivity.iteration_s / throughput[useful])


def _most_of_a_server(num_gpus: int, group: ServerGroup) -> Floats:
    """The most that one GPU of the job can have of each resource, on servers of ``group``."""
    return np.array(group.resources) / min(num_gpus, group.gpus)


def _from_matrix(
    sensitivity: Sensitivity, num_gpus: int, group: ServerGroup, fair: Floats
) -> tuple[Floats, float, float]:
    """(wish, iteration_s with it, iteration_s at the fair share) from the matrix.

    Among the grid points that a server can give (and its very limit, where that lies between
    them), the fastest; among equally fast ones, the one of the smallest summed share of a server.
    """
    most = _most_of_a_server(num_gpus, group)
    cpus = _up_to(sensitivity.cpus, most[_CPUS])
    memory = _up_to(sensitivity.memory_bytes, most[_MEMORY])
    gpus_together = min(num_gpus, group.gpus)
    if group.storage_bytes_per_s is not None and sensitivity.dataset_bytes is not None:
        # Beyond the last point, more memory still saves reads until it holds the dataset.
        useful = min(most[_MEMORY], sensitivity.dataset_bytes / gpus_together)
        memory = np.append(memory, max(useful, memory[-1]))
    grid_cpus, grid_memory = np.meshgrid(cpus, memory, indexing="ij")
    throughput = sensitivity.at(grid_cpus, grid_memory)
    storage = np.zeros_like(throughput)
    fair_throughput = float(sensitivity.at(fair[_CPUS], fair[_MEMORY]))
    if group.storage_bytes_per_s is not None and sensitivity.dataset_bytes is not None:
        # Misses have to come over the storage link: bytes of an iteration x iterations per second.
        missed = sensitivity.missed_bytes_per_iteration(grid_memory, gpus_together)
        per_throughput = missed / sensitivity.iteration_s
        limit = np.divide(
            most[_STORAGE],
            per_throughput,
            out=np.full_like(throughput, np.inf),
            where=per_throughput > 0,
        )
        throughput = np.minimum(throughput, limit)
        storage = throughput * per_throughput
        fair_missed = float(sensitivity.missed_bytes_per_iteration(fair[_MEMORY], gpus_together))
        if fair_missed > 0:
            limit_at_fair = fair[_STORAGE] * sensitivity.iteration_s / fair_missed
            fair_throughput = min(fair_throughput, limit_at_fair)
    if fair_throughput <= 0:
        raise ValueError(
            f"{sensitivity.model!r} does not progress with its fair share of {fair[_CPUS]:g} CPUs "
            f"and {fair[_MEMORY]:.4g} bytes a GPU"
        )
    best = throughput.max()
    share_of_server = grid_cpus / most[_CPUS] + grid_memory / most[_MEMORY]
    if group.storage_bytes_per_s:
        share_of_server = share_of_server + storage / most[_STORAGE]
    as_fast = throughput >= best * (1 - 1e-9)
    chosen = np.unravel_index(
        np.argmin(np.where(as_fast, share_of_server, np.inf)), throughput.shape
    )
    wish = np.array([grid_cpus[chosen], grid_memory[chosen], storage[chosen]])
    return (
        wish,
        sensitivity.iteration_s / float(throughput[chosen]),
        sensitivity.iteration_s / fair_throughput,
    )


def _up_to(axis: Floats, most: float) -> Floats:
    """Points of ``axis`` up to ``most``, and ``most`` itself where it cuts the axis."""
    inside = axis[axis <= most * (1 + 1e-12)]
    return inside if len(inside) == len(axis) else np.append(inside, most)


def _from_two_points(
    sensitivity: Sensitivity, num_gpus: int, group: ServerGroup, fair: Floats
) -> tuple[Floats, float, float]:
    """(wish, iteration_s with it, iteration_s at the fair share) as the published simulator has it.

    Where the ideal CPUs exceed the server, the speed-up is interpolated along the CPUs alone.
    """
    ratio = round(group.cpus / group.gpus)
    point = sensitivity.two_point_at(ratio)
    most = _most_of_a_server(num_gpus, group)
    wish = np.array([point.cpus, point.memory_bytes, 0.0])
    speedup = point.speedup
    if wish[_CPUS] > most[_CPUS]:
        reach = (most[_CPUS] - fair[_CPUS]) / (wish[_CPUS] - fair[_CPUS])
        speedup = 1 + (speedup - 1) * max(reach, 0.0)
    wish = np.minimum(wish, most)
    return wish, point.iteration_s / speedup, point.iteration_s
