"""Is a replay what it stands for? Real training jobs, and replays of the demands fitted to them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from emulator.verdict import Verdict
from harness.experiments.intervals import mean_over_seeds
from harness.experiments.reproduce.cassini.emulate import Case, emulate_cases
from harness.experiments.reproduce.cassini.emulated import checks_figure, repeats_figure
from harness.experiments.reproduce.comparisons import Published, curve, figure
from harness.experiments.reproduce.recipe import (
    Drawing,
    QuickForm,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.experiments.reproduce.replay_real.jobs import JOBS, ProfiledJob, RealJob, profile_jobs
from harness.experiments.reproduce.replay_real.scenarios import (
    ALONE,
    BESIDE,
    PLACES,
    REAL,
    REPLAYED,
    SHIFTED,
    TESTED,
    arm_name,
    scenario,
)
from harness.experiments.run import ArmResult

_SOURCE = "our bound on a replay"
_BOUND = 0.03
_PERIOD_BOUND = 0.01
_COUNTS_BOUND = 0.01

_WORDS = {
    ALONE: "alone",
    BESIDE: "beside a real data-parallel job with longer iterations",
    SHIFTED: "beside one with as long ones, with time-shifts",
}


@dataclass(frozen=True)
class Size:
    """iterations: that count, of each arm. profiled: of each job's profile."""

    jobs: tuple[RealJob, ...]
    iterations: int
    profiled: int
    repetitions: int


FULL = Size(JOBS, iterations=50, profiled=60, repetitions=3)
QUICK = Size(JOBS[:1], iterations=20, profiled=30, repetitions=1)


@dataclass(frozen=True)
class RealOrReplayed:
    """Mean iteration time of the tested job in one arm of one repetition."""

    mean_s: float
    verdict: Verdict


Measured = Mapping[tuple[str, str, int], RealOrReplayed]
"""By (job, arm, repetition)."""


def _run(size: Size, data: Path, seeds: int | None, say: Say) -> Reproduction:
    del data  # the jobs are ours
    profiles, interrupted = profile_jobs(size.jobs, size.profiled, say)
    measured: dict[tuple[str, str, int], RealOrReplayed] = {}
    repeated = 0
    if not interrupted:
        with tempfile.TemporaryDirectory(prefix="roundelay-") as directory:
            cases = _cases(size, profiles, seeds or size.repetitions, Path(directory))
            done = emulate_cases(cases, partial(_take, measured), say)
        repeated, interrupted = done.repeated, done.interrupted
    return Reproduction(
        tuple(figures_of(profiles, measured, repeated)),
        drawings_of(profiles, measured),
        inputs=tuple(job.words for job in size.jobs),
        interrupted=interrupted,
    )


def _cases(
    size: Size, profiles: Mapping[str, ProfiledJob], repetitions: int, directory: Path
) -> Iterator[Case]:
    known = {name: each.profile for name, each in profiles.items()}
    for repetition in range(1, repetitions + 1):
        for job in size.jobs:
            yield Case(job.name, repetition, scenario(job, known, size.iterations, directory))


def _take(
    measured: dict[tuple[str, str, int], RealOrReplayed], case: Case, result: ArmResult
) -> None:
    measurement = result.measurement
    if measurement is None or measurement.interrupted:
        return
    times_s = [
        row.iteration_s for row in measurement.iterations if row.job == TESTED and row.counted
    ]
    measured[case.name, result.arm.name, case.seed] = RealOrReplayed(
        float(np.mean(times_s)), measurement.verdict
    )


def figures_of(
    profiles: Mapping[str, ProfiledJob], measured: Measured, repeated: int
) -> Iterator[ReproducedFigure]:
    """Of the fits, and of the replays."""
    for name, profiled in profiles.items():
        for fitted in profiled.fitted:
            link = f"{fitted.counted.job.rate_bps / 1e6:g} Mbit/s"
            yield _bounded(
                f"{name} on {link}: fitted period against the job's own timer",
                [abs(fitted.period_error)],
                _PERIOD_BOUND,
                f"timer {fitted.timer.value * 1e3:.1f} ms",
            )
            yield _bounded(
                f"{name} on {link}: packets against counters, worst server",
                [max(abs(host.disagreement) for host in fitted.hosts)],
                _COUNTS_BOUND,
            )
        for place in PLACES:
            errors = errors_of(name, place, measured)
            if errors:
                yield _bounded(
                    f"{name}, {_WORDS[place]}: replay against the real job, mean iteration time",
                    [abs(each) for each in errors],
                    _BOUND,
                    f"by repetition {', '.join(f'{each:+.1%}' for each in errors)}",
                )
    if measured:
        yield checks_figure("all", [each.verdict for each in measured.values()])
        yield repeats_figure(repeated)


def errors_of(job: str, place: str, measured: Measured) -> list[float]:
    """Of the replay's mean iteration time from the real job's, as a share, by repetition."""
    found = []
    for (name, arm, repetition), real in sorted(measured.items(), key=lambda item: item[0]):
        other = measured.get((job, arm_name(place, REPLAYED), repetition))
        if (name, arm) == (job, arm_name(place, REAL)) and other is not None:
            found.append(other.mean_s / real.mean_s - 1)
    return found


def _bounded(name: str, errors: Sequence[float], bound: float, note: str = "") -> ReproducedFigure:
    published = Published(bound, 0.0, _SOURCE, "at most")
    return figure(name, "", mean_over_seeds(errors), published, note)


def drawings_of(profiles: Mapping[str, ProfiledJob], measured: Measured) -> tuple[Drawing, ...]:
    """Real and replayed iteration times side by side."""
    at = [
        (name, place) for name in profiles for place in PLACES if errors_of(name, place, measured)
    ]
    if not at:
        return ()
    curves = []
    for kind in (REAL, REPLAYED):
        points = []
        for number, (name, place) in enumerate(at):
            means = [
                each.mean_s
                for (job, arm, _), each in measured.items()
                if (job, arm) == (name, arm_name(place, kind))
            ]
            points.append((number, mean_over_seeds(means)))
        curves.append(curve(kind, points))
    return (
        Drawing(
            "replays",
            "Real training jobs and their replays on the same links",
            "job and place",
            "mean iteration time (s)",
            tuple(each for each in curves if each),
            "Where the two lie on each other, the fitted demand stands for the job.",
            x_names=tuple(f"{name}\n{place}" for name, place in at),
        ),
    )


RECIPE = Recipe(
    id="replay-real",
    title="real training jobs against replays of their fitted demands, on emulated links",
    source="ours: no published experiment",
    seconds=1200,
    needs_data=False,
    run=partial(_run, FULL),
    quick=QuickForm(seconds=150, run=partial(_run, QUICK), less="one job, one repetition"),
)
