"""How often CASSINI's time-shifts have to be adjusted, on emulated links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from harness.experiments.decide import decide
from harness.experiments.intervals import Interval, mean_over_seeds
from harness.experiments.predict import predict_arm
from harness.experiments.reproduce.cassini.emulate_snapshots import emulate_snapshots
from harness.experiments.reproduce.cassini.emulated import (
    EmulatedSnapshots,
    checks_figure,
    per_minute,
    repeats_figure,
)
from harness.experiments.reproduce.cassini.snapshots import (
    FULL,
    PAPER,
    QUICK,
    SHIFTED,
    Size,
    snapshot_scenario,
)
from harness.experiments.reproduce.comparisons import Published, curve, figure
from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    QuickForm,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.experiments.summary import counted_times
from traces.generators.cassini_snapshots import Snapshot

_MOST_PER_MIN = 2.0
_WRONG_BY = 0.01
"""Share of the period by which a profile is supposed to be wrong."""

_SIMULATED_ITERATIONS = 300
_ANY_SEED = 1


def _run(size: Size, data: Path, seeds: int | None, say: Say) -> Reproduction:
    del data  # nothing of the paper's is published
    made = emulate_snapshots(size, seeds, (SHIFTED,), say)
    figures = list(figures_of(size, made))
    if not made.interrupted:
        say("simulating wrong periods")
        figures += wrong_period_figures(size)
    return Reproduction(
        tuple(figures),
        drawings_of(size, made),
        inputs=tuple(str(each) for each in size.snapshots),
        interrupted=made.interrupted,
    )


def figures_of(size: Size, made: EmulatedSnapshots) -> Iterator[ReproducedFigure]:
    """Adjustments per minute and job: over all snapshots, and of each."""
    done = [each for each in size.snapshots if made.of(each, SHIFTED)]
    if not done:
        return
    rates = [rate for each in made.arms for rate in each.adjustments_per_min.values()]
    seeds = sorted({each.seed for each in made.arms})
    by_seed = [
        [r for each in made.arms if each.seed == seed for r in each.adjustments_per_min.values()]
        for seed in seeds
    ]
    overall = mean_over_seeds([float(np.mean(of_seed)) for of_seed in by_seed])
    yield figure(
        "adjustments per minute, mean over all jobs",
        "1/min",
        overall,
        Published(
            _MOST_PER_MIN,
            0.0,
            f"{PAPER}: less than 2 per minute on average, over all snapshots",
            "at most",
        ),
        f"emulated; seeds: {overall.seeds}, jobs: {len(rates)}",
    )
    yield ReproducedFigure("adjustments per minute, job with the most", "1/min", max(rates))
    for snapshot in done:
        yield figure(
            f"{snapshot.name}: adjustments per minute and job", "1/min", _rate(snapshot, made)
        )
    yield checks_figure("all snapshots", [each.verdict for each in made.arms])
    yield repeats_figure(made.repeated)


def _rate(snapshot: Snapshot, made: EmulatedSnapshots) -> Interval:
    runs = made.of(snapshot, SHIFTED).values()
    return mean_over_seeds([float(np.mean(list(run.adjustments_per_min.values()))) for run in runs])


def wrong_period_figures(size: Size) -> Iterator[ReproducedFigure]:
    """What profiles that are wrong by 1 % do, in the simulator: mean over the snapshots."""
    right = [_simulated(each, 1.0) for each in size.snapshots]
    for words, factor in (("short", 1 - _WRONG_BY), ("long", 1 + _WRONG_BY)):
        wrong = [_simulated(each, factor) for each in size.snapshots]
        yield ReproducedFigure(
            f"adjustments per minute and job, all periods estimated {_WRONG_BY:.0%} too {words}",
            "1/min",
            float(np.mean([rate for rate, _ in wrong])),
            note="simulated; a grid shorter than the iteration is lost again and again, and each "
            "time the job waits for its next point; a longer one holds the job back",
        )
        yield ReproducedFigure(
            f"mean iteration time, all periods estimated {_WRONG_BY:.0%} too {words}, over that "
            "with right ones",
            "x",
            float(
                np.mean([mean_s / was for (_, mean_s), (_, was) in zip(wrong, right, strict=True)])
            ),
            note="simulated",
        )


def _simulated(snapshot: Snapshot, factor: float) -> tuple[float, float]:
    """(adjustments per minute and job, mean iteration time) with periods times ``factor``."""
    (arm,) = snapshot_scenario(snapshot, _ANY_SEED, _SIMULATED_ITERATIONS, (SHIFTED,)).arms
    shifts = {
        job: replace(
            shift,
            shift_s=shift.shift_s * factor,
            grid_period_s=shift.grid_period_s * factor,
        )
        for job, shift in decide(arm).shifts.items()
    }
    prediction = predict_arm(arm, shifts)
    rates = per_minute(prediction.adjustments, prediction.iterations)
    times_s = counted_times(prediction.iterations)
    return float(np.mean(list(rates.values()))), float(np.mean(times_s))


def drawings_of(size: Size, made: EmulatedSnapshots) -> tuple[Drawing, ...]:
    """Adjustments, snapshot by snapshot."""
    done = [each for each in size.snapshots if made.of(each, SHIFTED)]
    if not done:
        return ()
    emulated = curve("emulated", [(at, _rate(each, made)) for at, each in enumerate(done)])
    published = Curve(
        "published: less than, on average",
        tuple(float(at) for at in range(len(done))),
        (_MOST_PER_MIN,) * len(done),
        published=True,
    )
    return (
        Drawing(
            "adjustments",
            "CASSINI's snapshots: adjustments of the time-shift",
            "jobs of the link",
            "adjustments per minute and job",
            tuple(each for each in (emulated, published) if each),
            "A job that lags its grid by more than the threshold waits for the next point of it.",
            x_names=tuple("\n".join(model for model, _ in each.jobs) for each in done),
        ),
    )


RECIPE = Recipe(
    id="cassini-drift",
    title="CASSINI's time-shifts: adjustments per minute, on an emulated link",
    source=f"{PAPER}, frequency of adjusting time-shifts",
    seconds=690,
    needs_data=False,
    run=partial(_run, FULL),
    quick=QuickForm(110, partial(_run, QUICK), str(QUICK)),
)
