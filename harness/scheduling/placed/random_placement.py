"""First come, first served, on GPUs that are drawn: the placement that knows of no network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.scheduling.placed.packing import admitted, free_gpus
from harness.scheduling.placed.policy import GpuServers, Placement, WaitingJob


class RandomPlacement:
    """The policy for one run on ``servers``. A seed repeats its decisions.

    Jobs that run stay to their end. Those that wait start in order of submission, whoever does not
    fit being passed over, each rank on any free GPU.
    """

    def __init__(self, servers: GpuServers, seed: int) -> None:
        self._servers = servers
        self._rng = np.random.default_rng(seed)

    def placements(self, jobs: Sequence[WaitingJob], now_s: float, most: int) -> list[Placement]:
        """One placement, for it holds none equal to what it has drawn."""
        placement = {job.id: job.servers for job in jobs if job.servers}
        free = free_gpus(self._servers, placement)
        gpus = [server for server, count in free.items() for _ in range(count)]
        for job in admitted((job for job in jobs if not job.servers), len(gpus)):
            drawn = self._rng.permutation(len(gpus))
            placement[job.id] = tuple(gpus[position] for position in drawn[: job.workers])
            gpus = [gpus[position] for position in np.sort(drawn[job.workers :])]
        return [placement]
