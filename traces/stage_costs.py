"""What one iteration costs each stage of training: storage, CPU, GPU. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class StageCosts:
    """Of one GPU of a job; a job of g GPUs on a server is g such pipelines side by side.

    gpu_s: compute of one iteration. cpu_s: CPU seconds that its samples take to prepare.
    read_bytes: its samples as they lie in storage. dataset_bytes: of this GPU's part of the
    dataset; 0 with read_bytes 0 where nothing is read. (DS-Analyzer, VLDB 2021: ingestion,
    preparation and fetch rates.)
    """

    gpu_s: float
    cpu_s: float
    read_bytes: float = 0.0
    dataset_bytes: float = 0.0

    def hit_share(self, memory_bytes: float) -> float:
        """Of the samples, those that a cache of ``memory_bytes`` per GPU holds, once it is full."""
        return min(1.0, memory_bytes / self.dataset_bytes) if self.dataset_bytes else 1.0

    def iteration_s(self, cpus: float, memory_bytes: float, storage_bytes_per_s: float) -> float:
        """Seconds of one iteration in the steady state: the slowest stage's. All per GPU."""
        missed_bytes = self.read_bytes * (1 - self.hit_share(memory_bytes))
        fetch_s = missed_bytes / storage_bytes_per_s if missed_bytes else 0.0
        prepare_s = self.cpu_s / cpus if cpus else (math.inf if self.cpu_s else 0.0)
        return max(self.gpu_s, prepare_s, fetch_s)
