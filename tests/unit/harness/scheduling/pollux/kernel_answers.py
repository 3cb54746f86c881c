"""What the compiled functions of Pollux answer to a few random questions, as JSON.

As a module of its own, so that it also runs in a process where nothing is compiled.
"""

from __future__ import annotations

import json
from typing import Any

import numba
import numpy as np

from harness.scheduling.pollux.fit import _loss
from harness.scheduling.pollux.goodput import best_batch
from harness.scheduling.pollux.variation import offspring
from tests.unit.harness.scheduling.pollux.random_problems import (
    random_learned,
    random_model,
    random_placements,
    random_problem,
)


def of_placements(seed: int) -> list[Any]:
    """Repaired placements, their values, and their offspring."""
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    placements = random_placements(problem, 6, rng)
    problem.repair(placements, rng)
    values = problem.values(placements)
    crowding = rng.random(6)
    children = offspring(
        placements,
        -values,
        crowding,
        5,
        problem.held,
        problem.server_gpus,
        problem.most_gpus,
        rng,
    )
    return [placements.tolist(), values.round(9).tolist(), children.tolist()]


def of_models(seed: int) -> list[Any]:
    """The best batch, and the loss of a model with its slope."""
    rng = np.random.default_rng(seed)
    learned = random_learned(rng)
    goodput, batch = best_batch(learned.model, learned.noise, learned.limits, 4, True)
    observations = np.array([[1, 1, 8, 0.2, 0.21], [1, 2, 8, 0.2, 0.3], [2, 4, 16, 0.3, 0.7]])
    loss, slope = _loss(np.array(random_model(rng)), observations.T.copy())
    return [f"{goodput:.9g}", list(batch), f"{loss:.9g}", [f"{each:.6g}" for each in slope]]


def answers() -> dict[str, Any]:
    return {
        "compiled": not numba.config.DISABLE_JIT,
        "placements": [of_placements(seed) for seed in range(12)],
        "models": [of_models(seed) for seed in range(12)],
    }


if __name__ == "__main__":
    print(json.dumps(answers()))
