"""What a mechanism is: it decides how much of what the jobs get, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.job_table import Flags, Floats, Ints
from harness.scheduling.allocation import Allocation
from harness.scheduling.demands import Demands
from harness.scheduling.waiting import ActiveJobs
from traces.server_pool import ServerPool

Placement = Literal["best-fit", "balanced", "super-machine", "servers"]
"""For proportional and tune, which of the servers on which a job fits: the fullest one (best-fit:
Synergy, section 4.3), or, of those whose free GPUs then lack the least of a fair share, the fullest
one (balanced: ours). For opt, whether its shares are mapped onto servers by the second programme
(servers) or stay those of one machine that has everything (super-machine)."""


class Mechanism(Protocol):
    """Gives resources to the active jobs, round by round."""

    @property
    def iteration_s_by_kind(self) -> Floats:
        """(kinds,): seconds of an iteration with what the mechanism would like to give."""
        ...

    @property
    def order_matters(self) -> bool:
        """Whether the same jobs in another order may get other resources."""
        ...

    def report(self) -> dict[str, float]:
        """Figures of the decisions so far, by name with the unit in it."""
        ...

    def allocate(self, active: ActiveJobs, order: Ints, before: Allocation) -> Allocation:
        """The next round's allocation.

        order: positions in ``active``, the policy's order. before: the round before; the same
        object is returned where nothing changes.
        """
        ...


@dataclass(frozen=True)
class PackingTables:
    """What packing needs to know of each kind of job on each type of GPU: (kinds, types, ...).

    alike: equal numbers for kinds that want the same. rank: 0 for the largest demand: by GPUs, then
    CPUs, then memory (Synergy, section 4.3).
    """

    wish: Floats
    above_fair: Flags
    alike: Ints
    rank: Ints | NDArray[np.int16]

    @staticmethod
    def of(demands: Demands, pool: ServerPool, *, wishes: bool) -> PackingTables:
        """wishes: whether jobs want what the Demands say, or only their fair share."""
        wish = demands.wish if wishes else demands.fair
        above_fair = demands.above_fair if wishes else np.zeros_like(demands.above_fair)
        num_gpus = np.array([kind.num_gpus for kind in demands.kinds], dtype=float)
        rank = np.empty(wish.shape[:2], dtype=np.int64)
        for gpu_type in range(len(pool.groups)):
            total = wish[:, gpu_type] * num_gpus[:, None]
            wanted = np.column_stack([num_gpus, total])
            _, of_kind = np.unique(-wanted, axis=0, return_inverse=True)
            rank[:, gpu_type] = of_kind.reshape(-1)
        # Kinds of the same rank want the same. Small numbers are sorted faster.
        small = rank.astype(np.int16) if rank.size and rank.max() < 2**15 else rank
        return PackingTables(wish, above_fair, rank, small)


def merge(parts: list[Allocation]) -> Allocation:
    """Allocations of different jobs as one, jobs ascending."""
    if len(parts) == 1:
        return parts[0]
    jobs = np.concatenate([part.jobs for part in parts])
    counts = np.concatenate([np.diff(part.offsets) for part in parts])
    order = np.argsort(jobs, kind="stable")
    row_job = np.repeat(jobs, counts)
    row_order = np.argsort(row_job, kind="stable")
    return Allocation(
        jobs=jobs[order],
        gpu_type=np.concatenate([part.gpu_type for part in parts])[order],
        offsets=np.concatenate(([0], np.cumsum(counts[order]))),
        servers=np.concatenate([part.servers for part in parts])[row_order],
        gpus=np.concatenate([part.gpus for part in parts])[row_order],
        share=np.concatenate([part.share for part in parts])[order],
        iteration_s=np.concatenate([part.iteration_s for part in parts])[order],
        held_to_fair_share=np.concatenate([part.held_to_fair_share for part in parts])[order],
    )
