"""The genetic algorithm NSGA-II over placements (Pollux, OSDI'21, section 4.2.1).

pymoo sorts into fronts and measures crowding. The loop around them is ours and works on arrays:
pymoo's keeps an object for each placement, which takes four times as long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.job_table import Floats, Ints
from harness.scheduling.pollux.placements import Placements, Problem
from harness.scheduling.pollux.variation import offspring

POPULATION = 100
GENERATIONS = 100

_ATTEMPTS = 10  # to make enough placements that are new, of which there may be few


@dataclass(frozen=True)
class Population:
    """Placements that are all different. values: see Problem.values. front: (placements,) 0 for
    those that no other dominates. crowding: (placements,) room around each in its front.
    """

    placements: Placements
    values: Floats
    front: Ints
    crowding: Floats

    @property
    def best(self) -> int:
        """The one with the highest fitness; of equal ones that with the most utility."""
        return int(np.lexsort((-self.values[:, 1], -self.values[:, 0]))[0])


def search(problem: Problem, start: Placements, rng: np.random.Generator) -> Population:
    """The last generation, beginning with those of ``start``, repaired where they have to be."""
    begun = start.copy()
    problem.repair(begun, rng)
    begun = _different(begun, set(), len(begun))
    population = _survivors(begun, problem.values(begun), rng)
    for _ in range(GENERATIONS - 1):
        new = _new(problem, population, rng)
        if not len(new):
            break
        population = _survivors(
            np.concatenate((population.placements, new)),
            np.concatenate((population.values, problem.values(new))),
            rng,
        )
    return population


def _new(problem: Problem, population: Population, rng: np.random.Generator) -> Placements:
    """Placements that are not in ``population``, as many as it may have or as are found."""
    known = {placement.tobytes() for placement in population.placements}
    found: list[Placements] = []
    missing = POPULATION
    for _ in range(_ATTEMPTS):
        made = offspring(
            population.placements,
            -population.values,
            population.crowding,
            missing,
            problem.held,
            problem.server_gpus,
            problem.most_gpus,
            rng,
        )
        found.append(_different(made, known, missing))
        missing -= len(found[-1])
        if not missing or not len(found[-1]):
            break
    return np.concatenate(found)


def _different(placements: Placements, known: set[bytes], most: int) -> Placements:
    """Up to ``most`` of ``placements`` that are not ``known``, which they then are."""
    rows: list[int] = []
    for row, placement in enumerate(placements):
        key = placement.tobytes()
        if key not in known and len(rows) < most:
            known.add(key)
            rows.append(row)
    return placements[rows]


def _survivors(placements: Placements, values: Floats, rng: np.random.Generator) -> Population:
    """Those of the first fronts; of the last that counts, those with the most room around them."""
    # Imported here: every command would wait for it otherwise.
    from pymoo.operators.survival.rank_and_crowding.metrics import get_crowding_function
    from pymoo.util.nds.non_dominated_sorting import NonDominatedSorting

    crowding_of = get_crowding_function("cd")
    chosen, number, crowding = [], [], []
    room = POPULATION
    for rank, front in enumerate(NonDominatedSorting().do(-values, n_stop_if_ranked=room)):
        around = crowding_of.do(-values[front])
        order = np.arange(len(front))
        if len(front) > room:
            order = np.lexsort((rng.random(len(front)), -around))[:room]
        chosen.append(front[order])
        number.append(np.full(len(order), rank))
        crowding.append(around[order])
        room -= len(order)
    rows = np.concatenate(chosen)
    return Population(
        placements[rows], values[rows], np.concatenate(number), np.concatenate(crowding)
    )
