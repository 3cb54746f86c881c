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
class Rounds:
    """round_s: between two decisions. restart_s: from when a job is placed until it begins."""

    round_s: float
    restart_s: float


@dataclass(frozen=True)
class Choice:
    """A number of workers that a job may have.

    *_iteration_s: of an iteration that shares no link, with all workers on one server, whose GPUs
    exchange in no time, and on several.
    """

    workers: int
    together_iteration_s: float
    apart_iteration_s: float


@dataclass(frozen=True)
class WaitingJob:
    """A job that has arrived and not ended.

    workers: that it asks for, each on a GPU of its own. iterations_left, iterations_done: with that
    number; may be broken. attained_s: time in which it held GPUs. dedicated_iteration_s: of an
    iteration that shares no link. servers: of each worker, where it runs; empty where it does not.
    starts: on other GPUs than it held. choices: by ascending number of workers, for a policy that
    may give it another number.
    """

    id: str
    workers: int
    submit_s: float
    iterations_left: float
    iterations_done: float
    attained_s: float
    dedicated_iteration_s: float
    servers: tuple[str, ...] = ()
    starts: int = 0
    choices: tuple[Choice, ...] = ()


class PlacementPolicy(Protocol):
    """Decides about the stretch of time until the next decision."""

    def placements(self, jobs: Sequence[WaitingJob], now_s: float, most: int) -> list[Placement]:
        """Up to ``most`` different placements that it holds equally good; the first is its own
        choice, with nobody else to ask.

        jobs: in order of submission. At least one placement, which is empty where nothing runs.
        """
        ...
