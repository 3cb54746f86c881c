"""Jobs that come and go on the emulated testbed, under several schedulers: runs and figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from emulator.interrupt import stop_on_signals
from emulator.session import Session
from emulator.verdict import Verdict
from harness.experiments.intervals import mean_over_seeds, ratio_over_seeds
from harness.experiments.placed import PlacedRun
from harness.experiments.reproduce.cassini.emulate import silent, teller
from harness.experiments.reproduce.cassini.emulated import BOUNDS, STATISTICS, verdicts_figure
from harness.experiments.reproduce.cassini.workloads import CASSINI, IDEAL, THEMIS, Workload
from harness.experiments.reproduce.comparisons import NOTHING_PUBLISHED, Published, figure
from harness.experiments.reproduce.recipe import (
    QuickForm,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.experiments.run import ArmResult, decide_all, emulate_all, predict_all, scale_of
from harness.experiments.summary import counted_times
from netshaper.run_state import new_run_id

SEEDS = 3


@dataclass(frozen=True)
class ScheduledArm:
    """One arm of a workload with one seed, on both sides.

    measured_s, predicted_s: times of the counted iterations of all jobs. marks_per_iteration: of
    each model, None where nothing could mark.
    """

    workload: Workload
    arm: str
    seed: int
    measured_s: tuple[float, ...]
    predicted_s: tuple[float, ...]
    marks_per_iteration: dict[str, float] | None
    schedule: PlacedRun
    verdict: Verdict


@dataclass(frozen=True)
class ScheduledArms:
    """Every arm that was emulated to its end. interrupted: not all that was wanted."""

    arms: tuple[ScheduledArm, ...]
    interrupted: bool

    def of(self, workload: Workload, *arms: str) -> list[tuple[ScheduledArm, ...]]:
        """``arms`` of the seeds that have all of them."""
        by_seed: dict[int, dict[str, ScheduledArm]] = defaultdict(dict)
        for each in self.arms:
            if each.workload.id == workload.id:
                by_seed[each.seed][each.arm] = each
        return [
            tuple(found[arm] for arm in arms)
            for _, found in sorted(by_seed.items())
            if all(arm in found for arm in arms)
        ]


@dataclass(frozen=True)
class PublishedGains:
    """What the paper gives of Themis over Themis with CASSINI, by statistic."""

    mean: Published
    p99: Published
    marks: Published = NOTHING_PUBLISHED


@dataclass(frozen=True)
class Part:
    """A workload of a recipe, the arms that are run, and what is published of it."""

    workload: Workload
    arms: tuple[str, ...]
    published: PublishedGains


def emulate_parts(parts: Sequence[Part], seeds: int, say: Say) -> ScheduledArms:
    """Simulate and emulate every arm of every part, seed by seed.

    A stop ends the round under way; of the arm that it belongs to nothing counts.
    """
    done: list[ScheduledArm] = []
    with (
        Session(new_run_id()) as session,
        stop_on_signals(lambda: say("stopping after the round under way")) as stop,
    ):
        for seed in range(1, seeds + 1):
            for part in parts:
                if stop.wanted():
                    return ScheduledArms(tuple(done), interrupted=True)
                scenario = part.workload.scenario(seed, part.arms)
                results = decide_all(scenario)
                predict_all(results, silent, stop.wanted)
                tell = teller(part.workload.id, seed, say)
                emulate_all(session, results, scale_of(scenario), tell, stop.wanted)
                done += [
                    each for result in results if (each := _emulated(part.workload, seed, result))
                ]
        return ScheduledArms(tuple(done), interrupted=stop.wanted())


def _emulated(workload: Workload, seed: int, result: ArmResult) -> ScheduledArm | None:
    """What counts of ``result``; None where it was not emulated to its end."""
    measured, predicted, schedule = result.measurement, result.prediction, result.schedule
    if measured is None or predicted is None or schedule is None or measured.interrupted:
        return None
    marks: dict[str, int] = defaultdict(int)
    iterations: dict[str, int] = defaultdict(int)
    models = {job.id: job.profile.model for job in result.arm.jobs}
    for row in measured.iterations:
        iterations[models[row.job]] += 1
    for link in measured.links:
        if link.job is not None:
            marks[models[link.job]] += link.marked_packets or 0
    marked = all(link.marked_packets is not None for link in measured.links)
    return ScheduledArm(
        workload=workload,
        arm=result.arm.name,
        seed=seed,
        measured_s=tuple(counted_times(measured.iterations)),
        predicted_s=tuple(counted_times(predicted.iterations)),
        marks_per_iteration={model: marks[model] / iterations[model] for model in iterations}
        if marked
        else None,
        schedule=schedule,
        verdict=measured.verdict,
    )


def figures_of(parts: Sequence[Part], made: ScheduledArms) -> Iterator[ReproducedFigure]:
    """All figures of what was done."""
    for part in parts:
        yield from _gains(part, made)
        for arm in part.arms:
            runs = [run for (run,) in made.of(part.workload, arm)]
            if runs:
                yield from _errors(part, arm, runs)
        every = [each for each in made.arms if each.workload.id == part.workload.id]
        if every:
            yield verdicts_figure(part.workload.id, [each.verdict for each in every])


def _gains(part: Part, made: ScheduledArms) -> Iterator[ReproducedFigure]:
    pairs = made.of(part.workload, THEMIS, CASSINI)
    if not pairs:
        return
    name = part.workload.id
    for statistic in BOUNDS:
        of = STATISTICS[statistic]
        gain = ratio_over_seeds(
            [of(themis.measured_s) for themis, _ in pairs],
            [of(cassini.measured_s) for _, cassini in pairs],
        )
        yield figure(
            f"{name}: {statistic} iteration time, Themis over Themis with CASSINI",
            "x",
            gain,
            getattr(part.published, statistic),
            f"{part.workload.words}; emulated, {gain.seeds} seeds; {_how(pairs)}",
        )
    ideal = made.of(part.workload, CASSINI, IDEAL)
    if ideal:
        mean = STATISTICS["mean"]
        over = ratio_over_seeds(
            [mean(cassini.measured_s) for cassini, _ in ideal],
            [mean(alone.measured_s) for _, alone in ideal],
        )
        yield figure(
            f"{name}: mean iteration time, Themis with CASSINI over ideal", "x", over,
            NOTHING_PUBLISHED, "ideal: no two jobs share a link",
        )  # fmt: skip
    yield from _marks(part, pairs)


def _how(pairs: Sequence[tuple[ScheduledArm, ...]]) -> str:
    """Where the gain comes from: placements that share nothing, or shifts."""
    records = [cassini.schedule.record for _, cassini in pairs]
    scores = [score for record in records for score in record.scores]
    return (
        f"of {len(scores)} placements that CASSINI chose "
        f"{sum(score == 1.0 for score in scores)} fit whole, "
        f"{sum(record.unshared for record in records)} of them by sharing no link"
    )


def _marks(part: Part, pairs: Sequence[tuple[ScheduledArm, ...]]) -> Iterator[ReproducedFigure]:
    """Packets marked per iteration, over all models that any arm had marked."""
    per_arm = []
    for position in range(2):
        found = [pair[position].marks_per_iteration for pair in pairs]
        if any(each is None for each in found):
            return
        per_arm.append([sum((each or {}).values()) for each in found])
    themis, cassini = (mean_over_seeds(values) for values in per_arm)
    for arm, interval in ((THEMIS, themis), (CASSINI, cassini)):
        yield figure(
            f"{part.workload.id}, {arm}: packets marked per iteration, summed over models",
            "packets",
            interval,
        )
    if cassini.value > 0:
        yield ReproducedFigure(
            f"{part.workload.id}: marks, Themis over Themis with CASSINI",
            "x",
            themis.value / cassini.value,
            expected=part.published.marks.value,
            source=part.published.marks.source,
            tolerance=part.published.marks.tolerance,
            note="links are slower and packets fewer in emulation",
            compare=part.published.marks.compare,
        )


def _errors(part: Part, arm: str, runs: Sequence[ScheduledArm]) -> Iterator[ReproducedFigure]:
    for statistic, bound in BOUNDS.items():
        of = STATISTICS[statistic]
        by_seed = [of(run.predicted_s) / of(run.measured_s) - 1 for run in runs]
        yield ReproducedFigure(
            f"{part.workload.id}, {arm}: simulator's error of the {statistic} iteration time, "
            "without sign",
            "",
            abs(float(np.mean(by_seed))),
            expected=bound,
            source="our bound on the simulator",
            tolerance=0.0,
            note="by seed " + ", ".join(f"{error:+.1%}" for error in by_seed),
            compare="at most",
        )


def scheduled_recipe(
    identity: str,
    title: str,
    source: str,
    parts: tuple[Part, ...],
    seconds: float,
    quick_seconds: float,
) -> Recipe:
    """A recipe of ``parts``; its quick form has the first of them with two arms and one seed."""
    first = parts[0]
    quick = (Part(first.workload, (THEMIS, CASSINI), first.published),)
    return Recipe(
        id=identity,
        title=title,
        source=source,
        seconds=seconds,
        needs_data=False,
        run=partial(_run, parts, SEEDS),
        quick=QuickForm(
            quick_seconds,
            partial(_run, quick, 1),
            "one seed, Themis with and without CASSINI alone",
        ),
    )


def _run(
    parts: Sequence[Part], own_seeds: int, data: Path, seeds: int | None, say: Say
) -> Reproduction:
    del data  # nothing of the paper's is published
    made = emulate_parts(parts, seeds or own_seeds, say)
    return Reproduction(
        tuple(figures_of(parts, made)),
        inputs=tuple(f"{part.workload.id}: {part.workload.words}" for part in parts),
        interrupted=made.interrupted,
    )
