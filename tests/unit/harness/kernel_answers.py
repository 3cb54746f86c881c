"""What the compiled functions answer to a few random questions, as JSON.

As a module of its own, so that it also runs in a process where nothing is compiled; there numpy
refuses an index that is out of bounds, which machine code would follow.
"""

from __future__ import annotations

import json
from typing import Any

import numba
import numpy as np

from harness.scheduling.cassini.circle import unified_circle
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.rotation import best_rotation
from harness.simulation.round_cluster import RoundSemantics
from tests.unit.harness.random_workloads import random_workload
from tests.unit.harness.scheduling.packing.packing_cases import random_rounds, random_servers
from tests.unit.harness.scheduling_builders import run_jobs
from traces.demand import DemandCurve, Phase

PACKING_SEEDS, RUN_SEEDS, ROTATION_SEEDS = range(20), range(5), range(3)
SEMANTICS = (
    RoundSemantics(100.0, restart_s=20.0, checkpoint_s=5.0),
    RoundSemantics(100.0, "round-end", "whole-iterations", restart_s=10.0),
)
RUNS = (("srtf", "tune", 1), ("las", "proportional", 2), ("fifo", "greedy", 2))
PUBLISHED = ("srtf-published", "tune-published", 1)


def packings(seed: int) -> list[Any]:
    """Places and fair shares, with what was held before, under both placements."""
    answers = []
    for balanced in (False, True):
        rng = np.random.default_rng(seed)
        for round_ in random_rounds(rng, random_servers(rng), balanced, 3):
            places = [list(place.items()) for place in round_.packing.places]
            answers.append([places, round_.packing.to_fair])
    return answers


def runs(seed: int) -> list[Any]:
    """Columns of the table and leases after whole runs."""
    answers = []
    for number, (policy, mechanism, types) in enumerate((*RUNS, PUBLISHED)):
        workload = random_workload(
            np.random.default_rng(seed), types=types, jobs=15, mean_gap_s=20, mean_iterations=100
        )
        semantics = SEMANTICS[(seed + number) % 2]
        args = workload.table, workload.demands, workload.pool, policy, mechanism, semantics
        run = run_jobs(*args, measured=np.arange(15) < 10)
        table = run.table
        columns = (table.finish_s, table.attained_s, table.done_iterations, table.leases)
        answers.append([np.nan_to_num(column, nan=-1.0).tolist() for column in columns])
        answers.append([[row.job, row.server, row.gpus, row.cpus] for row in run.leases.rows])
    return answers


def rotations(seed: int) -> list[Any]:
    """Shifts and scores of two to five jobs of two periods on a link, exactly and by descent."""
    rng = np.random.default_rng(seed)
    answers = []
    for jobs in (2, 3, 4, 5):
        curves = []
        for period_s in rng.choice([0.1, 0.2], jobs).tolist():
            start_s, end_s = np.sort(rng.uniform(0, period_s, 2)).tolist()
            curves.append(DemandCurve(period_s, (Phase(start_s, end_s, rng.uniform(3, 12)),)))
        rotation = best_rotation(unified_circle(curves, 10.0, Precision(degrees=30.0)), seed)
        answers.append([rotation.score, rotation.shifts_s, rotation.exact])
    return answers


def answers() -> dict[str, Any]:
    return {
        "compiled": not numba.config.DISABLE_JIT,
        "packings": [packings(seed) for seed in PACKING_SEEDS],
        "runs": [runs(seed) for seed in RUN_SEEDS],
        "rotations": [rotations(seed) for seed in ROTATION_SEEDS],
    }


if __name__ == "__main__":
    print(json.dumps(answers()))
