"""Synergy's CPU:GPU ratios: the more CPUs a server has, the less there is to gain.

(OSDI'22.) Servers of 24, 32, 40 and 48 CPUs for 8 GPUs, first come, first served at 9 jobs/h. As
in the authors' code, a job's duration is that at the fair share of each cluster, so that the
proportional mechanism does the same on all of them.

Two models of speed: the sensitivity matrix, measured at ratio 3, and the authors' two speeds of
each ratio with their walk, as their simulator has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from harness.experiments.intervals import Interval
from harness.experiments.reproduce.comparisons import (
    NOTHING_PUBLISHED,
    Published,
    curve,
    figure,
    joined,
    mean_h,
    not_made,
    ratio_of,
)
from harness.experiments.reproduce.data_files import ORACLE, found
from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.experiments.reproduce.simulated import Runs, Simulation, simulate_all
from harness.experiments.reproduce.synergy import (
    BALANCED,
    HEADLINE_SPLIT,
    PAPER,
    PROPORTIONAL,
    SEED_SPREAD,
    TUNE,
    TUNE_NOTES,
    WALK,
    generated,
    replayed,
    scenario,
    seeds_of,
)
from traces.formats.synergy_trace import read_synergy_trace
from traces.sensitivity import builtin_sensitivities

_SEEDS = 8
_JOBS_PER_HOUR = 9.0
_PAPERS_SEED = 42
_GPUS = 8
_RATIOS = (3, 4, 5, 6)
_MATRIX, _TWO_SPEEDS = "matrix", "two-point"
_VARIANTS = ((TUNE, _MATRIX), (BALANCED, _MATRIX), (WALK, _MATRIX), (WALK, _TWO_SPEEDS))
_GENERATED, _PAPERS_TRACE = "seeds", "the paper's trace"

_PUBLISHED: Mapping[int, Published] = {
    3: Published(3.4, SEED_SPREAD, f"{PAPER}: CPU:GPU 3, up to 3.4x"),
    6: Published(1.8, SEED_SPREAD, f"{PAPER}: CPU:GPU 6, 1.8x"),
}
_ON_ITS_TRACE = 0.1  # instead: its seed is the same, its policy and load may be others
_SPEED_NOTES = {
    _MATRIX: "speeds from the matrix: at 48 CPUs all models but alexnet, shufflenet, res18 and m5 "
    "have what they wish for",
    _TWO_SPEEDS: "the authors' two speeds: at ratio 6 m5 gains nothing (the matrix gives 1.7x), "
    "and alexnet and shufflenet wish for 24 CPUs, half a server, for 2.2x and 2.6x (the matrix has "
    "1.7x with 12)",
}
_LOAD_NOTE = (
    "the paper does not say under which policy and load; here FIFO at 9 jobs/h, where its own 81 h "
    "over 22 h is 3.7"
)


class _Arm(NamedTuple):
    jobs: str
    ratio: int
    mechanism: str
    speeds: str

    def __str__(self) -> str:
        return f"{self.jobs}, CPU:GPU {self.ratio}, {self.mechanism}, {self.speeds}"


def _arms(jobs: str) -> list[_Arm]:
    """The proportional mechanism has the same durations with both models of speed."""
    return [
        _Arm(jobs, ratio, mechanism, speeds)
        for ratio in _RATIOS
        for mechanism, speeds in ((PROPORTIONAL, _MATRIX), *_VARIANTS)
    ]


def _simulations(data: Path, seeds: range) -> list[Simulation[_Arm]]:
    simulations = []
    trace = found(data, ORACLE / "trace_9jph.csv")
    if trace is not None:
        jobs = _with_durations(trace)
        replay = replayed(str(trace))
        for arm in _arms(_PAPERS_TRACE):
            simulations.append(Simulation(arm, _PAPERS_SEED, _scenario(arm, replay), jobs))
    workload = generated("fifo", _JOBS_PER_HOUR, split=HEADLINE_SPLIT)
    for seed in seeds:
        simulations += [
            Simulation(arm, seed, _scenario(arm, workload)) for arm in _arms(_GENERATED)
        ]
    return simulations


def _scenario(arm: _Arm, workload: Mapping[str, object]) -> dict[str, object]:
    cpus, simulation = arm.ratio * _GPUS, {"speeds": arm.speeds}
    return scenario("fifo", arm.mechanism, workload, cpus=cpus, simulation=simulation)


def _with_durations(trace: Path) -> pd.DataFrame:
    """The authors' jobs by durations, from which they made the iterations of every ratio anew."""
    jobs = read_synergy_trace(trace).jobs
    iteration_s = {
        each.model: each.iteration_s for each in builtin_sensitivities("synergy").entries
    }
    duration_s = jobs["iterations"] * jobs["model"].map(iteration_s).astype(float)
    return jobs.assign(duration_s=duration_s).drop(columns=["iterations"])


def _speedup(runs: Runs[_Arm], arm: _Arm) -> Interval | None:
    slow = arm._replace(mechanism=PROPORTIONAL, speeds=_MATRIX)
    return ratio_of(runs, slow, arm, mean_h)


def _figures(runs: Runs[_Arm], papers_trace: bool) -> Iterator[ReproducedFigure]:
    for jobs in (_PAPERS_TRACE, _GENERATED):
        for mechanism, speeds in _VARIANTS:
            for ratio in _RATIOS:
                arm = _Arm(jobs, ratio, mechanism, speeds)
                published = _PUBLISHED.get(ratio, NOTHING_PUBLISHED)
                if jobs == _PAPERS_TRACE and published.value:
                    published = replace(published, tolerance=_ON_ITS_TRACE)
                name = f"{jobs}, CPU:GPU {ratio}: speed-up, {mechanism}, {speeds}"
                interval = _speedup(runs, arm)
                if interval is not None:
                    note = joined(_LOAD_NOTE, _SPEED_NOTES[speeds], TUNE_NOTES[mechanism])
                    yield figure(name, "x", interval, published, note if published.value else "")
                elif jobs == _PAPERS_TRACE and published.value and not papers_trace:
                    why = f"not made: needs {ORACLE / 'trace_9jph.csv'} in the directory of --data"
                    yield not_made(name, "x", published, why)


def _drawing(runs: Runs[_Arm]) -> Drawing:
    curves = [
        curve(
            f"{mechanism}, {speeds}",
            [
                (ratio, _speedup(runs, _Arm(_GENERATED, ratio, mechanism, speeds)))
                for ratio in _RATIOS
            ],
        )
        for mechanism, speeds in _VARIANTS
    ]
    published = Curve(
        "published",
        tuple(float(ratio) for ratio in _PUBLISHED),
        tuple(float(each.value or 0.0) for each in _PUBLISHED.values()),
        published=True,
    )
    return Drawing(
        "synergy-ratio",
        "Speed-up of the mean completion time by CPUs per GPU, FIFO at 9 jobs/h",
        "CPUs per GPU",
        "proportional mean over TUNE's mean",
        (*(each for each in curves if each), published),
        "With more CPUs per GPU the fair share is nearer to what jobs wish for: less is gained.",
    )


def _run(data: Path, seeds: int | None, say: Say) -> Reproduction:
    simulations = _simulations(data, seeds_of(seeds, _SEEDS))
    runs = simulate_all(simulations, say)
    papers_trace = any(each.arm.jobs == _PAPERS_TRACE for each in simulations)
    return Reproduction(
        tuple(_figures(runs, papers_trace)), (_drawing(runs),), runs.inputs, runs.interrupted
    )


RECIPE = Recipe(
    id="synergy-ratio",
    title="Synergy on 128 GPUs over CPUs per GPU",
    source=f"{PAPER}, CPU:GPU ratios",
    seconds=100,
    needs_data=False,
    run=_run,
)
