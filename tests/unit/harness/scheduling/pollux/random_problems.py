"""Random jobs to place, and random placements of them, valid or not."""

from __future__ import annotations

import numpy as np

from harness.scheduling.pollux.goodput import BatchLimits, GradientNoise, IterationModel
from harness.scheduling.pollux.placements import Placements, Problem
from harness.scheduling.pollux.speedup import Learned, speedups


def random_model(rng: np.random.Generator) -> IterationModel:
    """Synchronisation between servers takes longer than within one."""
    local_s = 10 ** rng.uniform(-3, -1)
    node_s = local_s * rng.uniform(1.5, 10)
    return IterationModel(
        alpha_grad_s=10 ** rng.uniform(-2, 0),
        beta_grad_s=10 ** rng.uniform(-4, -2),
        alpha_node_s=node_s,
        beta_node_s=node_s * rng.uniform(0, 0.1),
        alpha_local_s=local_s,
        beta_local_s=local_s * rng.uniform(0, 0.1),
        gamma=rng.uniform(1, 10),
    )


def random_limits(rng: np.random.Generator) -> BatchLimits:
    initial = int(rng.integers(8, 200))
    gpu_least = int(rng.integers(1, initial + 1))
    return BatchLimits(
        initial=initial,
        largest=initial * int(rng.integers(2, 40)),
        gpu_least=gpu_least,
        gpu_most=2 * gpu_least + int(rng.integers(0, 2 * initial)),
    )


def random_noise(rng: np.random.Generator) -> GradientNoise:
    return GradientNoise(10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-3, 3))


def random_learned(rng: np.random.Generator) -> Learned:
    return Learned(random_model(rng), random_noise(rng), random_limits(rng))


def random_problem(seed: int) -> Problem:
    """Up to 8 jobs on up to 20 servers; some have not trained, some hold nothing."""
    rng = np.random.default_rng(seed)
    jobs, servers = int(rng.integers(1, 9)), int(rng.integers(1, 21))
    server_gpus = rng.integers(1, 5, servers)
    most_gpus = rng.integers(1, 9, jobs)
    learned = [random_learned(rng) if rng.random() < 0.8 else None for _ in range(jobs)]
    problem = Problem(
        server_gpus=server_gpus,
        held=np.zeros((jobs, servers), dtype=np.int16),
        speedup=speedups(
            learned, most_gpus.tolist(), int(server_gpus.max()), int(server_gpus.sum())
        ),
        moved=rng.random(jobs),
        most_gpus=most_gpus,
    )
    held = random_placements(problem, 1, rng)
    problem.repair(held, rng)
    problem.held[:] = held[0]
    return problem


def random_placements(problem: Problem, count: int, rng: np.random.Generator) -> Placements:
    """Most of them invalid; thinner and thicker ones."""
    shape = (count, *problem.held.shape)
    here = rng.random(shape) < rng.random((count, 1, 1))
    return (here * rng.integers(0, 5, shape)).astype(np.int16)
