"""Placements that Pollux holds equal, between which something else may decide, such as the network.

The search seldom exchanges servers that are alike: on a full cluster two jobs would have to move at
once. So what it found is varied by such exchanges, which leave every job as many GPUs on as many
servers, and cost the jobs that move a restart.
"""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats, Ints
from harness.scheduling.pollux.placements import Placements, Problem
from harness.scheduling.pollux.search import Population

_DRAWS = 20  # for each placement that is asked for


def held_equal(
    problem: Problem,
    population: Population,
    most: int,
    tolerance: float,
    rng: np.random.Generator,
) -> Placements:
    """Up to ``most`` different placements whose fitness is within ``tolerance``, a share of it, of
    the highest of ``population``. That one is the first; then come the fittest.
    """
    least = (1 - tolerance) * population.values[population.best, 0]
    near = population.values[:, 0] >= least
    found = _in_order(population.placements[near], population.values[near])
    if len(found) < most:
        drawn = _exchanged(found, problem.server_gpus, _DRAWS * most, rng)
        every = np.unique(np.concatenate((found, drawn)), axis=0)
        values = problem.values(every)
        allowed = values[:, 0] >= least
        best = found[0]  # also where an exchange happens to find a better one
        others = allowed & (every != best).any(axis=(1, 2))
        found = np.concatenate((best[np.newaxis], _in_order(every[others], values[others])))
    return found[:most]


def is_held_equal(
    problem: Problem, population: Population, placement: Placements, tolerance: float
) -> bool:
    """Whether one ``placement`` (jobs, servers) from elsewhere is valid and as fit as those of
    ``held_equal`` have to be."""
    repaired = placement[np.newaxis].copy()
    problem.repair(repaired, np.random.default_rng(0))
    least = (1 - tolerance) * population.values[population.best, 0]
    return bool((repaired[0] == placement).all() and problem.values(repaired)[0, 0] >= least)


def _in_order(placements: Placements, values: Floats) -> Placements:
    return placements[np.lexsort((-values[:, 1], -values[:, 0]))]


def _exchanged(
    placements: Placements, server_gpus: Ints, count: int, rng: np.random.Generator
) -> Placements:
    """``count`` of ``placements``, each with some pairs of servers exchanged, from one pair to as
    many as there are servers; both of a pair have as many GPUs.
    """
    servers = len(server_gpus)
    alike = [np.flatnonzero(server_gpus == gpus) for gpus in server_gpus]
    varied = placements[rng.integers(len(placements), size=count)]
    for placement in varied:
        for _ in range(rng.integers(1, servers + 1)):
            one = rng.integers(servers)
            other = alike[one][rng.integers(len(alike[one]))]
            placement[:, [one, other]] = placement[:, [other, one]]
    return varied
