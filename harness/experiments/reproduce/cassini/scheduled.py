"""Figures of jobs that come and go on the emulated testbed, under several schedulers. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from emulator.verdict import Verdict
from harness.experiments.intervals import mean_over_seeds, ratio_over_seeds
from harness.experiments.placed import PlacedRun
from harness.experiments.reproduce.cassini.emulated import (
    BOUNDS,
    STATISTICS,
    checks_figure,
    repeats_figure,
)
from harness.experiments.reproduce.cassini.workloads import Host, Workload
from harness.experiments.reproduce.comparisons import NOTHING_PUBLISHED, Published, figure
from harness.experiments.reproduce.recipe import ReproducedFigure
from harness.experiments.run import ArmResult
from harness.experiments.summary import counted_times


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
    """Every arm that was emulated to its end. interrupted: not all that was wanted.

    repeated: emulations, as the box was disturbed.
    """

    arms: tuple[ScheduledArm, ...]
    interrupted: bool
    repeated: int = 0

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
    """What the paper gives of a scheduler over the same with CASSINI, by statistic."""

    mean: Published
    p99: Published
    marks: Published = NOTHING_PUBLISHED


@dataclass(frozen=True)
class Part:
    """A workload of a recipe, the arms that are run, and what is published of them by the
    scheduler that CASSINI is added to."""

    workload: Workload
    arms: tuple[str, ...]
    published: Mapping[Host, PublishedGains]


def scheduled_arm(workload: Workload, seed: int, result: ArmResult) -> ScheduledArm | None:
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
        for host, published in part.published.items():
            yield from _gains(part, host, published, made)
        for arm in part.arms:
            runs = [run for (run,) in made.of(part.workload, arm)]
            if runs:
                yield from _errors(part, arm, runs)
        every = [each for each in made.arms if each.workload.id == part.workload.id]
        if every:
            yield checks_figure(part.workload.id, [each.verdict for each in every])
    if made.arms:
        yield repeats_figure(made.repeated)


def _gains(
    part: Part, host: Host, published: PublishedGains, made: ScheduledArms
) -> Iterator[ReproducedFigure]:
    pairs = made.of(part.workload, host.alone, host.with_cassini)
    if not pairs:
        return
    name, over = part.workload.id, f"{host.name} over {host.name} with CASSINI"
    for statistic in BOUNDS:
        of = STATISTICS[statistic]
        gain = ratio_over_seeds(
            [of(alone.measured_s) for alone, _ in pairs],
            [of(cassini.measured_s) for _, cassini in pairs],
        )
        yield figure(
            f"{name}: {statistic} iteration time, {over}",
            "x",
            gain,
            getattr(published, statistic),
            f"{part.workload.words}; emulated, {gain.seeds} seeds; {_how(pairs)}",
        )
    yield figure(
        f"{name}: mean completion time, {over}",
        "x",
        ratio_over_seeds(
            [_mean_completion_s(alone) for alone, _ in pairs],
            [_mean_completion_s(cassini) for _, cassini in pairs],
        ),
        NOTHING_PUBLISHED,
        "of all jobs, from their arrival",
    )
    if host.ideal is not None:
        yield from _over_ideal(part, host, host.ideal, made)
    yield from _marks(part, host, published.marks, pairs)


def _mean_completion_s(run: ScheduledArm) -> float:
    table = run.schedule.table
    return float(np.mean(table.finish_s - table.submit_s))


def _over_ideal(
    part: Part, host: Host, ideal: str, made: ScheduledArms
) -> Iterator[ReproducedFigure]:
    pairs = made.of(part.workload, host.with_cassini, ideal)
    if pairs:
        mean = STATISTICS["mean"]
        over = ratio_over_seeds(
            [mean(cassini.measured_s) for cassini, _ in pairs],
            [mean(alone.measured_s) for _, alone in pairs],
        )
        yield figure(
            f"{part.workload.id}: mean iteration time, {host.name} with CASSINI over ideal", "x",
            over, NOTHING_PUBLISHED, "ideal: no two jobs share a link",
        )  # fmt: skip


def _how(pairs: Sequence[tuple[ScheduledArm, ...]]) -> str:
    """Where the gain comes from: placements that share nothing, or shifts."""
    records = [cassini.schedule.record for _, cassini in pairs]
    scores = [score for record in records for score in record.scores]
    return (
        f"of {len(scores)} placements that CASSINI chose "
        f"{sum(score == 1.0 for score in scores)} fit whole, "
        f"{sum(record.unshared for record in records)} of them by sharing no link"
    )


def _marks(
    part: Part, host: Host, published: Published, pairs: Sequence[tuple[ScheduledArm, ...]]
) -> Iterator[ReproducedFigure]:
    """Packets marked per iteration of each model, summed; none where nothing could mark."""
    per_arm = []
    for position in range(2):
        found = [pair[position].marks_per_iteration for pair in pairs]
        if any(each is None for each in found):
            return
        per_arm.append([sum((each or {}).values()) for each in found])
    alone, cassini = (mean_over_seeds(values) for values in per_arm)
    for arm, interval in ((host.alone, alone), (host.with_cassini, cassini)):
        yield figure(
            f"{part.workload.id}, {arm}: packets marked per iteration, summed over models",
            "packets",
            interval,
        )
    if cassini.value > 0:
        yield ReproducedFigure(
            f"{part.workload.id}: marks, {host.name} over {host.name} with CASSINI",
            "x",
            alone.value / cassini.value,
            expected=published.value,
            source=published.source,
            tolerance=published.tolerance,
            note="links are slower and packets fewer in emulation",
            compare=published.compare,
        )


def _errors(part: Part, arm: str, runs: Sequence[ScheduledArm]) -> Iterator[ReproducedFigure]:
    for statistic, bound in BOUNDS.items():
        of = STATISTICS[statistic]
        by_seed = [of(run.predicted_s) / of(run.measured_s) - 1 for run in runs]
        yield ReproducedFigure(
            f"{part.workload.id}, {arm}: simulator's error of the {statistic} iteration time, "
            "without sign",
            "",
            float(np.mean(np.abs(by_seed))),
            expected=bound,
            source="our bound on the simulator",
            tolerance=0.0,
            note="by seed " + ", ".join(f"{error:+.1%}" for error in by_seed),
            compare="at most",
        )
