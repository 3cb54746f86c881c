"""What the servers of a cluster have to give: GPUs, CPUs, memory and storage bandwidth."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESOURCES = ("cpus", "memory_bytes", "storage_bytes_per_s")
"""The fungible resources, in the order of every array whose last axis is resources."""


@dataclass(frozen=True)
class ServerGroup:
    """``count`` servers that are alike.

    storage_bytes_per_s: None where storage bandwidth is not given out.
    """

    count: int
    gpus: int
    cpus: float
    memory_bytes: float
    storage_bytes_per_s: float | None = None
    gpu_type: str = "v100"

    @property
    def resources(self) -> tuple[float, float, float]:
        """RESOURCES of one server; storage is 0 where it is not given out."""
        return self.cpus, self.memory_bytes, self.storage_bytes_per_s or 0.0


@dataclass(frozen=True)
class ServerPool:
    """All servers; those with the same type of GPU stand together.

    Servers of one type are alike: a job's fair share would otherwise depend on where it runs.
    """

    groups: tuple[ServerGroup, ...]

    def __post_init__(self) -> None:
        types = [group.gpu_type for group in self.groups]
        if len(set(types)) != len(types):
            raise ValueError("two groups of servers have the same type of GPU")
        if len({group.storage_bytes_per_s is None for group in self.groups}) > 1:
            raise ValueError("storage bandwidth is given for some servers and not for others")

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """Types of GPU, in the order of the groups."""
        return tuple(group.gpu_type for group in self.groups)

    @property
    def num_servers(self) -> int:
        """Servers of all groups."""
        return sum(group.count for group in self.groups)

    @property
    def num_gpus(self) -> int:
        """GPUs of all groups."""
        return sum(group.count * group.gpus for group in self.groups)

    @property
    def gives_storage(self) -> bool:
        """Whether storage bandwidth is a resource to give out."""
        return self.groups[0].storage_bytes_per_s is not None

    @functools.cached_property
    def first_server(self) -> NDArray[np.int64]:
        """(types + 1,): servers of type t are first_server[t] up to first_server[t + 1]."""
        return np.concatenate(([0], np.cumsum([group.count for group in self.groups])))

    @functools.cached_property
    def gpus(self) -> NDArray[np.int64]:
        """(servers,): GPUs."""
        return np.repeat([group.gpus for group in self.groups], [g.count for g in self.groups])

    @functools.cached_property
    def resources(self) -> NDArray[np.float64]:
        """(servers, RESOURCES)."""
        return np.repeat(
            np.array([group.resources for group in self.groups], dtype=float),
            [group.count for group in self.groups],
            axis=0,
        )

    @functools.cached_property
    def fair_share(self) -> NDArray[np.float64]:
        """(types, RESOURCES): the GPU-proportional share of one GPU."""
        return np.array(
            [[amount / group.gpus for amount in group.resources] for group in self.groups]
        )
