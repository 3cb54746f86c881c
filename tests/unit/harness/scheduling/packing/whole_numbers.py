"""Random servers and jobs with whole numbers of everything, also per GPU."""

from __future__ import annotations

import numpy as np

from tests.unit.harness.scheduling.packing.packing_cases import Job, Servers


def random_servers(rng: np.random.Generator) -> Servers:
    gpus = int(rng.integers(1, 9))
    cpus, memory, storage = (gpus * rng.integers([1, 2, 0], [7, 9, 5])).tolist()
    return Servers(int(rng.integers(1, 7)), gpus, cpus, memory, storage)


def random_jobs(
    rng: np.random.Generator, servers: Servers, *, oversubscribed: bool = False
) -> list[Job]:
    """Jobs of a few kinds for at most all GPUs, or for somewhat more."""
    kinds = []
    for _ in range(rng.integers(1, 6)):
        largest = servers.all_gpus if rng.random() < 0.3 else min(servers.gpus, 3)
        num_gpus = int(rng.integers(1, largest + 1))
        most = servers.size // min(num_gpus, servers.gpus)
        cpus, memory, storage = rng.integers(0, most + 1).tolist()
        kinds.append(Job(num_gpus, (cpus, memory, storage)))
    left = int(servers.all_gpus * (1.5 if oversubscribed else 1))
    jobs = []
    for number in rng.integers(0, len(kinds), 60):
        if kinds[number].num_gpus <= left:
            jobs.append(kinds[number])
            left -= kinds[number].num_gpus
    return jobs
