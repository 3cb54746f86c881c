"""How the genetic algorithm of Pollux makes new placements of old ones. Compiled loops.

(OSDI'21, section 4.2.1: crossover and mutation; the rates are those of its authors' code.)
"""

from __future__ import annotations

import numpy as np

from harness.job_table import Floats, Ints
from harness.scheduling.pollux.placements import Placements, repair
from traces.compiled import compiled

_CROSSED = 0.9
_RESET = 0.1  # of a job
_THINNED = 0.1  # of a job, of whose servers then
_ZEROED = 0.1


@compiled
def offspring(
    parents: Placements,
    cost: Floats,
    crowding: Floats,
    count: int,
    held: Placements,
    server_gpus: Ints,
    most_gpus: Ints,
    rng: np.random.Generator,
) -> Placements:
    """``count`` new placements. cost: (parents, 2) to minimise; crowding: (parents,).

    Two parents, each the better of two drawn ones, exchange the rows of the jobs before a drawn
    one; then GPUs are changed at random, and what is not valid is repaired.
    """
    matings = (count + 1) // 2
    winners = _tournaments(cost, crowding, 2 * matings, rng)
    _, jobs, servers = parents.shape
    new = np.empty((2 * matings, jobs, servers), dtype=parents.dtype)
    for mating in range(matings):
        first, second = 2 * mating, 2 * mating + 1
        new[first] = parents[winners[first]]
        new[second] = parents[winners[second]]
        if rng.random() < _CROSSED:
            for job in range(rng.integers(0, jobs)):
                new[first, job] = parents[winners[second], job]
                new[second, job] = parents[winners[first], job]
    for each in range(count):
        _mutate(new[each], held, server_gpus, rng)
        repair(new[each], server_gpus, most_gpus, rng)
    return new[:count]


@compiled
def _tournaments(cost: Floats, crowding: Floats, count: int, rng: np.random.Generator) -> Ints:
    """(count,) winners, each of two individuals; every individual fights about as often.

    The one that dominates wins, else the one with more room around it, else one at random.
    """
    size = len(cost)
    drawn = np.empty(2 * count, dtype=np.int64)
    for start in range(0, 2 * count, size):
        some = rng.permutation(size)
        end = min(start + size, 2 * count)
        drawn[start:end] = some[: end - start]
    winners = np.empty(count, dtype=np.int64)
    for each in range(count):
        one, other = drawn[2 * each], drawn[2 * each + 1]
        no_worse = cost[one, 0] <= cost[other, 0] and cost[one, 1] <= cost[other, 1]
        no_better = cost[one, 0] >= cost[other, 0] and cost[one, 1] >= cost[other, 1]
        if no_worse == no_better:  # neither dominates
            no_worse = crowding[one] > crowding[other]
            no_better = crowding[one] < crowding[other]
            if no_worse == no_better:
                no_worse = rng.random() < 0.5
        winners[each] = one if no_worse else other
    return winners


@compiled
def _mutate(
    placement: Placements, held: Placements, server_gpus: Ints, rng: np.random.Generator
) -> None:
    """Change a (jobs, servers) ``placement`` in place.

    A tenth of the jobs go back to what they hold, and a tenth lose a tenth of their servers. On
    each server with a free GPU one job in the mean, and of those that are there another one, draws
    a number of GPUs from what it has to all of the server's.
    """
    jobs, servers = placement.shape
    for job in range(jobs):
        if rng.random() < _RESET:
            placement[job] = held[job]
        if rng.random() < _THINNED:
            for server in range(servers):
                if placement[job, server] and rng.random() < _ZEROED:
                    placement[job, server] = 0
    for server in range(servers):
        used, here = 0, 0
        for job in range(jobs):
            used += placement[job, server]
            here += placement[job, server] > 0
        if used >= server_gpus[server]:
            continue
        by_any = 1.0 / jobs
        by_present = by_any + (1 - by_any) / max(here, 1)
        for job in range(jobs):
            probability = by_present if placement[job, server] else by_any
            if rng.random() < probability:
                least = placement[job, server]
                placement[job, server] = rng.integers(least, server_gpus[server] + 1)
