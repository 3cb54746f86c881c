"""What decides which jobs run on which servers of a network: jobs and placements as it sees them.

A policy says who runs and may hold several placements equal; which of them fits the links best is
for others to say (CASSINI, NSDI'24, section 4.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from traces.cluster import Cluster

Placement = Mapping[str, tuple[str, ...]]
"""Of each job that runs, by its id, the server of each of its workers by rank. Each worker takes
one GPU; a server may be named as often as it has GPUs."""


@dataclass(frozen=True)
class GpuServers:
    """The servers of a cluster, and how many GPUs each has."""

    cluster: Cluster
    gpus: Mapping[str, int]

    @property
    def num_gpus(self) -> int:
        """Of all servers together."""
        return sum(self.gpus.values())


@dataclass(frozen=True)
class WaitingJob:
    """A job that has arrived and not ended.

    workers: each on a GPU of its own. iterations_left, iterations_done: may be broken numbers.
    attained_s: time in which it held GPUs. dedicated_iteration_s: of an iteration that shares no
    link. servers: of each worker, where it runs; empty where it does not.
    """

    id: str
    workers: int
    submit_s: float
    iterations_left: float
    iterations_done: float
    attained_s: float
    dedicated_iteration_s: float
    servers: tuple[str, ...] = ()


class PlacementPolicy(Protocol):
    """Decides about the stretch of time until the next decision."""

    def placements(self, jobs: Sequence[WaitingJob], now_s: float, most: int) -> list[Placement]:
        """Up to ``most`` different placements that it holds equally good; the first is its own
        choice, with nobody else to ask.

        jobs: in order of submission. At least one placement, which is empty where nothing runs.
        """
        ...
