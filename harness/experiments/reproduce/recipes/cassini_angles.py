"""How finely CASSINI has to rotate its circles: accuracy of time-shifts, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from harness.experiments.intervals import Interval, mean_over_seeds, ratio_over_seeds
from harness.experiments.reproduce.cassini.snapshots import PAPER, SHIFTED, snapshot_scenario
from harness.experiments.reproduce.comparisons import (
    NOTHING_PUBLISHED,
    Published,
    curve,
    figure,
)
from harness.experiments.reproduce.recipe import (
    Drawing,
    QuickForm,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.scheduling.cassini.circle import unified_circle
from harness.scheduling.cassini.links import SharedLink, shared_links
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.rotation import best_rotation, score_at
from traces.demand import DemandCurve, Phase
from traces.generators.cassini_snapshots import SNAPSHOTS, Snapshot

DEGREES = (1, 2, 4, 5, 8, 16, 32, 64, 128)
FINEST = 1
RECOMMENDED = 5
COARSE = (64, 128)

_SOURCE = f"{PAPER}, discretisation of angles"
_SEEDS = 3
_ANY_SEED = 1
_RANDOM_PHASES = 1000
_FEW_ITERATIONS = 2  # none is run
_LEAST_LOSS = 0.01


@dataclass(frozen=True)
class Rotated:
    """A link's jobs rotated in steps of so many degrees.

    accuracy: what the score gains over that of random phases, as a share of what the best rotation
    of any step gains; on the finest circle.
    search_s: CPU time of the circle and its best rotation.
    """

    degrees: int
    accuracy: float
    search_s: float


Runs = Mapping[int, Sequence[Rotated]]
"""Of every seed, all snapshots, turns and steps."""


def run_turns(turns: int, data: Path, seeds: int | None, say: Say) -> Reproduction:
    """Every snapshot turned ``turns`` times a seed."""
    del data  # nothing of the paper's is published
    links = [(each, link_of(each)) for each in SNAPSHOTS]
    randoms = [random_score(link) for _, link in links]
    rotate(links[0][1], randoms[0])  # compiles
    made: dict[int, list[Rotated]] = {}
    interrupted = False
    try:
        for seed in range(1, (seeds or _SEEDS) + 1):
            made[seed] = _of_seed(links, randoms, seed, turns, say)
    except KeyboardInterrupt:
        interrupted = True
    return Reproduction(
        tuple(figures_of(made)),
        drawings_of(made),
        inputs=tuple(str(each) for each in SNAPSHOTS),
        interrupted=interrupted,
    )


def _of_seed(
    links: Sequence[tuple[Snapshot, SharedLink]],
    randoms: Sequence[float],
    seed: int,
    turns: int,
    say: Say,
) -> list[Rotated]:
    """Every snapshot ``turns`` times, each with other moments at which its iterations begin."""
    rng = np.random.default_rng(seed)
    found: list[Rotated] = []
    for (snapshot, link), random in zip(links, randoms, strict=True):
        say(f"seed {seed}: {snapshot.name}")
        for _ in range(turns):
            starts = rng.uniform(0.0, 1.0, len(link.curves))
            turned = [turn(c, c.period_s * at) for c, at in zip(link.curves, starts, strict=True)]
            found += rotate(replace(link, curves=tuple(turned)), random)
    return found


def link_of(snapshot: Snapshot) -> SharedLink:
    """The one link that the jobs of ``snapshot`` share."""
    (arm,) = snapshot_scenario(snapshot, _ANY_SEED, _FEW_ITERATIONS, (SHIFTED,)).arms
    (link,) = shared_links(arm.cluster, arm.jobs)
    return link


def turn(curve_: DemandCurve, by_s: float) -> DemandCurve:
    """The same demand, with an iteration said to begin ``by_s`` earlier."""
    period_s = curve_.period_s
    phases = []
    for phase in curve_.phases:
        start_s = (phase.start_s + by_s) % period_s
        end_s = start_s + phase.end_s - phase.start_s
        phases.append(Phase(start_s, min(end_s, period_s), phase.rate_bps))
        if end_s > period_s:
            phases.append(Phase(0.0, end_s - period_s, phase.rate_bps))
    return DemandCurve(period_s, tuple(sorted(phases, key=lambda phase: phase.start_s)))


def random_score(link: SharedLink) -> float:
    """Mean score of the jobs of ``link`` in random phases."""
    rng = np.random.default_rng(_ANY_SEED)
    circle = unified_circle(link.curves, link.capacity_bps, Precision(FINEST))
    delays_s = rng.uniform(0.0, circle.perimeter_s, (_RANDOM_PHASES, len(link.jobs)))
    return float(np.mean([score_at(circle, each.tolist()) for each in delays_s]))


def rotate(link: SharedLink, random: float) -> list[Rotated]:
    """The jobs of ``link`` in steps of each of DEGREES. random: their score in random phases."""
    finest = unified_circle(link.curves, link.capacity_bps, Precision(FINEST))
    scores: list[float] = []
    times_s: list[float] = []
    for degrees in DEGREES:
        began_s = time.process_time()
        circle = unified_circle(link.curves, link.capacity_bps, Precision(degrees))
        rotation = best_rotation(circle)
        times_s.append(time.process_time() - began_s)
        scores.append(score_at(finest, rotation.shifts_s))
    return [
        Rotated(degrees, (score - random) / (max(scores) - random), search_s)
        for degrees, score, search_s in zip(DEGREES, scores, times_s, strict=True)
    ]


def figures_of(made: Runs) -> Iterator[ReproducedFigure]:
    """Accuracy and cost of every step, over the seeds that are done."""
    if not made:
        return
    for degrees in DEGREES:
        accuracy = accuracy_of(made, degrees)
        yield figure(
            f"accuracy of time-shifts at {degrees} degrees",
            "",
            accuracy,
            _published_accuracy(degrees),
            "what the score gains over random phases, as a share of what the best rotation gains",
        )
    yield ReproducedFigure(
        f"accuracy of time-shifts at {RECOMMENDED} degrees, at worst",
        "",
        min(each.accuracy for runs in made.values() for each in runs_at(runs, RECOMMENDED)),
    )
    for degrees in DEGREES:
        if degrees != RECOMMENDED:
            yield figure(
                f"CPU time of the search at {degrees} degrees, over that at {RECOMMENDED}",
                "x",
                cost_of(made, degrees),
                Published(1.0, None, f"{_SOURCE}: finer ones take longer", "at least")
                if degrees == FINEST
                else NOTHING_PUBLISHED,
            )


def _published_accuracy(degrees: int) -> Published:
    if degrees == RECOMMENDED:
        return Published(1.0, _LEAST_LOSS, f"{_SOURCE}: 100 % at 5 degrees")
    if degrees in COARSE:
        # How much is not known; a hundredth counts as a loss.
        return Published(1 - _LEAST_LOSS, None, f"{_SOURCE}: 64 and 128 lose", "at most")
    return NOTHING_PUBLISHED


def runs_at(runs: Sequence[Rotated], degrees: int) -> list[Rotated]:
    """Those of one step."""
    return [each for each in runs if each.degrees == degrees]


def accuracy_of(made: Runs, degrees: int) -> Interval:
    """Mean over snapshots and turns; interval over seeds."""
    return mean_over_seeds(
        [float(np.mean([e.accuracy for e in runs_at(runs, degrees)])) for runs in made.values()]
    )


def cost_of(made: Runs, degrees: int) -> Interval:
    """Time of all searches of a seed over that at RECOMMENDED."""

    def total_s(at: int) -> list[float]:
        return [sum(each.search_s for each in runs_at(runs, at)) for runs in made.values()]

    return ratio_over_seeds(total_s(degrees), total_s(RECOMMENDED))


def drawings_of(made: Runs) -> tuple[Drawing, ...]:
    """Both against the step."""
    if not made:
        return ()
    names = tuple(str(degrees) for degrees in DEGREES)
    accuracy = curve("ours", [(at, accuracy_of(made, d)) for at, d in enumerate(DEGREES)])
    cost = curve("ours", [(at, cost_of(made, d)) for at, d in enumerate(DEGREES)])
    return (
        Drawing(
            "accuracy-by-angle",
            "Accuracy of CASSINI's time-shifts against the angle of a step",
            "degrees",
            "gain of the score over the best one",
            (accuracy,) if accuracy else (),
            "The paper recommends 5 degrees; steps of 64 and 128 miss the best rotation.",
            x_names=names,
        ),
        Drawing(
            "cost-by-angle",
            "CPU time of the search against the angle of a step",
            "degrees",
            f"time over that at {RECOMMENDED} degrees",
            (cost,) if cost else (),
            "With three jobs on a link the rotations grow with the square of the angles.",
            x_names=names,
        ),
    )


RECIPE = Recipe(
    id="cassini-angles",
    title="CASSINI's angles: accuracy and cost of time-shifts from 1 to 128 degrees",
    source=_SOURCE,
    seconds=60,
    needs_data=False,
    run=partial(run_turns, 200),
    quick=QuickForm(10, partial(run_turns, 20), "20 turns of every snapshot instead of 200"),
)
