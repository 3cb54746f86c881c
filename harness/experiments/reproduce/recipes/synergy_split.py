"""Synergy's workload splits: what TUNE gains depends on who shares the cluster.

(OSDI'22; figure 9 of its artifact.) The same jobs, first come, first served at 9 jobs/h, with other
shares of image, language and speech models. A wish is 8.6 CPUs for a GPU in the mean of image
models, 1 of language and 4.5 of speech models; a server has 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.experiments.reproduce.comparisons import (
    NOTHING_PUBLISHED,
    Published,
    curve,
    figure,
    joined,
    mean_h,
    mean_of,
    ratio_of,
)
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
    ONE_SEED_NOTE,
    PAPER,
    PROPORTIONAL,
    SEED_SPREAD,
    TUNE,
    TUNE_NOTES,
    TUNES,
    generated,
    scenario,
    seeds_of,
)

_SEEDS = 8
_JOBS_PER_HOUR = 9.0
_NO_GAIN = 0.1

_SPLITS = ((10, 80, 10), (20, 70, 10), (35, 60, 5), (33, 33, 33), (50, 0, 50))
"""Weights of image, language and speech models. (35, 60, 5): of the artifact's Philly runs."""

_PUBLISHED: Mapping[tuple[int, int, int], Published] = {
    (20, 70, 10): Published(
        81 / 22, SEED_SPREAD, f"{PAPER}: FIFO at 9 jobs/h, split (20,70,10), 81 h to 22 h"
    ),
    (50, 0, 50): Published(1.0, _NO_GAIN, f"{PAPER}: split (50,0,50), no gain"),
}
_NO_GAIN_NOTE = (
    "all wish for the fair share or more, so that nobody has CPUs to give; what is left was gained "
    "while GPUs were free, before the queue formed"
)
_SCARCE_NOTE = (
    "wishes exceed what there is, with 4.7 CPUs for a GPU, and some have to go without: here the "
    "paper's order, largest first, does better than servers that are kept in proportion"
)


class _Arm(NamedTuple):
    split: tuple[int, int, int]
    mechanism: str

    def __str__(self) -> str:
        return f"split {_words(self.split)}, {self.mechanism}"


def _words(split: tuple[int, int, int]) -> str:
    return f"({','.join(map(str, split))})"


def _simulations(seeds: range) -> list[Simulation[_Arm]]:
    simulations = []
    for seed in seeds:
        for split in _SPLITS:
            weights = dict(zip(("image", "language", "speech"), split, strict=True))
            jobs = generated("fifo", _JOBS_PER_HOUR, split=weights)
            for mechanism in (PROPORTIONAL, *TUNES):
                arm = _Arm(split, mechanism)
                simulations.append(Simulation(arm, seed, scenario("fifo", mechanism, jobs)))
    return simulations


def _note(split: tuple[int, int, int], mechanism: str) -> str:
    if split == (50, 0, 50):
        return _NO_GAIN_NOTE
    if split == (33, 33, 33) and mechanism in (TUNE, BALANCED):
        return joined(TUNE_NOTES[mechanism], _SCARCE_NOTE)
    if split in _PUBLISHED:
        return joined(TUNE_NOTES[mechanism], ONE_SEED_NOTE)
    return ""


def _figures(runs: Runs[_Arm]) -> Iterator[ReproducedFigure]:
    for split in _SPLITS:
        slow = _Arm(split, PROPORTIONAL)
        interval = mean_of(runs, slow, mean_h)
        if interval is not None:
            yield figure(f"{_words(split)}: mean JCT, {PROPORTIONAL}", "h", interval)
        for mechanism in TUNES:
            ratio = ratio_of(runs, slow, _Arm(split, mechanism), mean_h)
            if ratio is not None:
                yield figure(
                    f"{_words(split)}: speed-up of the mean JCT, {mechanism}",
                    "x",
                    ratio,
                    _PUBLISHED.get(split, NOTHING_PUBLISHED),
                    _note(split, mechanism),
                )


def _drawing(runs: Runs[_Arm]) -> Drawing:
    curves = [
        curve(
            mechanism,
            [
                (number, ratio_of(runs, _Arm(split, PROPORTIONAL), _Arm(split, mechanism), mean_h))
                for number, split in enumerate(_SPLITS)
            ],
        )
        for mechanism in TUNES
    ]
    known = [number for number, split in enumerate(_SPLITS) if split in _PUBLISHED]
    published = Curve(
        "published",
        tuple(float(number) for number in known),
        tuple(float(_PUBLISHED[_SPLITS[number]].value or 0.0) for number in known),
        published=True,
    )
    return Drawing(
        "synergy-split",
        "Speed-up of the mean completion time by workload, FIFO at 9 jobs/h",
        "image, language, speech models in %",
        "proportional mean over TUNE's mean",
        (*(each for each in curves if each), published),
        "Language models leave the CPUs that image models can use; without them nothing is gained.",
        x_names=tuple(_words(split) for split in _SPLITS),
    )


def _run(data: Path, seeds: int | None, say: Say) -> Reproduction:
    del data
    runs = simulate_all(_simulations(seeds_of(seeds, _SEEDS)), say)
    return Reproduction(tuple(_figures(runs)), (_drawing(runs),), runs.inputs, runs.interrupted)


RECIPE = Recipe(
    id="synergy-split",
    title="Synergy on 128 GPUs over workload splits",
    source=f"{PAPER}, workload splits",
    seconds=90,
    needs_data=False,
    run=_run,
)
