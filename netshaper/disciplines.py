"""How a port divides its rate among jobs: HTB leaves for each sharing discipline. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netshaper.shaping import PortShape
from traces.cluster import Sharing
from traces.errors import BadInputError

ROOT_CLASS = 0x1
UNCLASSIFIED_CLASS = 0x2
ACKNOWLEDGEMENT_CLASS = 0x3
SHARED_CLASS = 0x4
FIRST_JOB_CLASS = 0x10

MOST_WEIGHT_RATIO = 100
"""HTB hands out what is left in turns of a quantum: so many packets of one job in a row."""

HIGHEST_PRIORITY = 7
_PRIORITY_FLOOR_SHARE = 1e-4
LEAST_RATE_BPS = 800  # a frame's bucket at this rate still fits into HTB's 32-bit times


@dataclass(frozen=True)
class JobTraffic:
    """What a network has to know of a job. See traces.scenario.Job."""

    id: str
    weight: float = 1.0
    priority: int = 0
    path_variant: int = 0


@dataclass(frozen=True)
class Leaf:
    """A class with a queue. turn: HTB's prio, 0 is served first."""

    minor: int
    rate_bps: int
    quantum_bytes: int
    turn: int


@dataclass(frozen=True)
class PortClasses:
    """The leaves of one port, and the class of each job: all the same under ``fifo``."""

    leaves: tuple[Leaf, ...]
    of_job: Mapping[str, int]

    @property
    def are_shared(self) -> bool:
        """Whether all jobs stand in one queue."""
        return any(leaf.minor == SHARED_CLASS for leaf in self.leaves)


def port_classes(sharing: Sharing, shape: PortShape, jobs: Sequence[JobTraffic]) -> PortClasses:
    """Leaves of a port of ``shape``. Raises BadInputError for weights too far apart.

    What a job does not use is handed on: under ``fair`` in equal turns, under ``weighted`` in turns
    as long as its weight, under ``priority`` to whoever has the greatest.
    """
    if sharing is Sharing.FIFO or not jobs:
        leaf = Leaf(SHARED_CLASS, shape.rate_bps, shape.quantum_bytes, 0)
        return PortClasses((leaf,), {job.id: SHARED_CLASS for job in jobs})
    of_job = {job.id: FIRST_JOB_CLASS + index for index, job in enumerate(jobs)}
    weights = [job.weight if sharing is Sharing.WEIGHTED else 1.0 for job in jobs]
    least, total = min(weights), sum(weights)
    if max(weights) > MOST_WEIGHT_RATIO * least:
        raise BadInputError(
            f"weights from {least:g} to {max(weights):g} are too far apart",
            allowed=f"weights of which none is more than {MOST_WEIGHT_RATIO} times another",
            key="workload.jobs",
        )
    leaves = []
    for job, weight in zip(jobs, weights, strict=True):
        rate_bps, turn = shape.rate_bps * weight / total, 0
        if sharing is Sharing.PRIORITY:
            rate_bps = shape.rate_bps * _PRIORITY_FLOOR_SHARE
            turn = HIGHEST_PRIORITY - job.priority
        leaves.append(
            Leaf(
                minor=of_job[job.id],
                rate_bps=max(int(rate_bps), LEAST_RATE_BPS),
                quantum_bytes=round(shape.quantum_bytes * weight / least),
                turn=turn,
            )
        )
    return PortClasses(tuple(leaves), of_job)
