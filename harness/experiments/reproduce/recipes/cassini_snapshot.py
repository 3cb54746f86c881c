"""CASSINI's snapshots on an emulated link: what time-shifts gain, by the compatibility score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from harness.experiments.intervals import Interval, mean_over_seeds, ratio_over_seeds
from harness.experiments.reproduce.cassini.emulate_snapshots import emulate_snapshots
from harness.experiments.reproduce.cassini.emulated import (
    BOUNDS,
    STATISTICS,
    EmulatedArm,
    EmulatedSnapshots,
    checks_figure,
    repeats_figure,
)
from harness.experiments.reproduce.cassini.snapshots import (
    FULL,
    PAPER,
    QUICK,
    SHIFTED,
    TOGETHER,
    Size,
)
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
from traces.generators.cassini_snapshots import TWO_VGG19, Snapshot

_HIGH_SCORE = 0.9
_SCORE_SOURCE = f"{PAPER}, snapshots (unverified recollection)"
_P90_OF_TWO_VGG19 = Published(
    1.26, 0.1, f"{PAPER}: two VGG19, 90th percentile of the iteration time"
)


def _run(size: Size, data: Path, seeds: int | None, say: Say) -> Reproduction:
    del data  # nothing of the paper's is published
    made = emulate_snapshots(size, seeds, (TOGETHER, SHIFTED), say)
    return Reproduction(
        tuple(figures_of(size, made)),
        drawings_of(size, made),
        inputs=tuple(str(each) for each in size.snapshots),
        interrupted=made.interrupted,
    )


def figures_of(size: Size, made: EmulatedSnapshots) -> Iterator[ReproducedFigure]:
    """All figures of the snapshots that have both arms of a seed."""
    paired = [each for each in size.snapshots if _pairs(made, each)]
    for snapshot in paired:
        yield _score(snapshot, made)
        for statistic in STATISTICS:
            yield _gain(snapshot, made, statistic)
        arms = {arm: list(made.of(snapshot, arm).values()) for arm in (TOGETHER, SHIFTED)}
        for arm, runs in arms.items():
            for statistic in BOUNDS:
                yield _error(snapshot, arm, runs, statistic)
        yield checks_figure(snapshot.name, [run.verdict for runs in arms.values() for run in runs])
    for statistic in STATISTICS:
        yield from _fading(paired, made, statistic)
    if paired:
        yield repeats_figure(made.repeated)


def _pairs(made: EmulatedSnapshots, snapshot: Snapshot) -> list[tuple[EmulatedArm, EmulatedArm]]:
    """(without time-shifts, with them) for each seed that has both."""
    together, shifted = made.of(snapshot, TOGETHER), made.of(snapshot, SHIFTED)
    return [(together[seed], shifted[seed]) for seed in sorted(together.keys() & shifted.keys())]


def _score(snapshot: Snapshot, made: EmulatedSnapshots) -> ReproducedFigure:
    return ReproducedFigure(
        f"{snapshot.name}: compatibility score",
        "",
        _pairs(made, snapshot)[0][1].score,
        expected=snapshot.remembered_score,
        source=_SCORE_SOURCE if snapshot.remembered_score is not None else "",
        tolerance=0.05,
        note="batches are chosen for it; the paper's are not known",
    )


def gain_of(snapshot: Snapshot, made: EmulatedSnapshots, statistic: str) -> Interval:
    """Iteration time without time-shifts over that with them, over the seeds."""
    of = STATISTICS[statistic]
    pairs = _pairs(made, snapshot)
    return ratio_over_seeds(
        [of(together.measured_s) for together, _ in pairs],
        [of(shifted.measured_s) for _, shifted in pairs],
    )


def _gain(snapshot: Snapshot, made: EmulatedSnapshots, statistic: str) -> ReproducedFigure:
    gain = gain_of(snapshot, made, statistic)
    published = snapshot == TWO_VGG19 and statistic == "p90"
    return figure(
        f"{snapshot.name}: gain of the {statistic} iteration time",
        "x",
        gain,
        _P90_OF_TWO_VGG19 if published else NOTHING_PUBLISHED,
        f"random phases over cassini, emulated; seeds: {gain.seeds}",
    )


def _error(
    snapshot: Snapshot, arm: str, runs: Sequence[EmulatedArm], statistic: str
) -> ReproducedFigure:
    of = STATISTICS[statistic]
    measured = of([time_s for run in runs for time_s in run.measured_s])
    predicted = of([time_s for run in runs for time_s in run.predicted_s])
    by_seed = [of(run.predicted_s) / of(run.measured_s) - 1 for run in runs]
    return ReproducedFigure(
        f"{snapshot.name}, {arm}: simulator's error of the {statistic} iteration time, "
        "without sign",
        "",
        abs(predicted / measured - 1),
        expected=BOUNDS[statistic],
        source="our bound on the simulator",
        tolerance=0.0,
        note=f"{measured * 1e3:.1f} ms measured, {predicted * 1e3:.1f} ms predicted; by seed "
        + ", ".join(f"{error:+.1%}" for error in by_seed),
        compare="at most",
    )


def _fading(
    paired: Sequence[Snapshot], made: EmulatedSnapshots, statistic: str
) -> Iterator[ReproducedFigure]:
    """What is left of the gain at the lowest score, seed by seed."""
    scores = {each: _pairs(made, each)[0][1].score for each in paired}
    high = [each for each in paired if scores[each] >= _HIGH_SCORE]
    if not high or len(high) == len(paired):
        return
    lowest = min(paired, key=scores.__getitem__)
    of = STATISTICS[statistic]
    gains = {
        each: {
            together.seed: of(together.measured_s) / of(shifted.measured_s) - 1
            for together, shifted in _pairs(made, each)
        }
        for each in (*high, lowest)
    }
    seeds = sorted(set.intersection(*(set(by_seed) for by_seed in gains.values())))
    if not seeds:
        return
    left = mean_over_seeds(
        [gains[lowest][seed] - float(np.mean([gains[e][seed] for e in high])) for seed in seeds]
    )
    yield figure(
        f"gain of the {statistic} at the score {scores[lowest]:.2f}, less that at "
        f"{_HIGH_SCORE:g} and above",
        "x",
        left,
        Published(0.0, 0.0, f"{PAPER}: large at 1.0 to 0.9, shrunk at 0.6 (no numbers)", "at most"),
        "below zero: it fades",
    )


def drawings_of(size: Size, made: EmulatedSnapshots) -> tuple[Drawing, ...]:
    """The gains, snapshot by snapshot."""
    paired = [each for each in size.snapshots if _pairs(made, each)]
    if not paired:
        return ()
    curves = [
        curve(
            statistic,
            [(place, gain_of(each, made, statistic)) for place, each in enumerate(paired)],
        )
        for statistic in STATISTICS
    ]
    names = [
        "\n".join([*(m for m, _ in each.jobs), f"{_pairs(made, each)[0][1].score:.2f}"])
        for each in paired
    ]
    return (
        Drawing(
            "gain-by-score",
            "CASSINI's snapshots: iteration time with random phases over that with time-shifts",
            "jobs of the link, and their compatibility score",
            "gain",
            tuple(each for each in curves if each),
            "What time-shifts gain fades as the jobs fit less: below a score of 1 the link itself "
            "is what they wait for.",
            x_names=tuple(names),
        ),
    )


RECIPE = Recipe(
    id="cassini-snapshot",
    title="CASSINI's snapshots: gain by time-shifts against the score, on an emulated link",
    source=f"{PAPER}, snapshot traces",
    seconds=1300,
    needs_data=False,
    run=partial(_run, FULL),
    quick=QuickForm(210, partial(_run, QUICK), str(QUICK)),
)
