"""Muri's physical experiment: 400 jobs on 8 servers of 8 V100 GPUs, four schedulers (SIGCOMM'22).

The authors published what that cluster measured of every job, so that a simulation of the same
trace can be held against hardware.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from harness.experiments.reproduce.muri_cluster import (
    MEASURED_OVERHEADS,
    NO_OVERHEADS,
    SPREAD_OVERHEADS,
    Replay,
    replay,
)
from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.job_table import Floats
from traces.formats.muri_trace import read_muri_results, read_muri_trace
from traces.job_trace import JobTrace

_FOLDER = Path("muri", "cluster_exp")
_TRACE = Path("trace-data", "cluster_trace.csv")
_RESULTS = {"srtf": "SRTF", "srsf": "SRSF", "tiresias": "tiresias", "themis-muri": "themis"}
_REPEATS = 20
_BARE, _FULL = "as the trace says", "with overheads"
_TARGET = 0.05
_SHORTEST_FIRST = ("srtf", "srsf")
_BOOTSTRAP = "BCa bootstrap over jobs, in pairs"
_EXPLANATIONS = {
    "srtf": "a job's work is iterations x iteration_time, which the times that jobs ran follow; "
    "the trace's duration rests on another time of an iteration, and is from 0.2 to 1.3 of it",
    "srsf": "the same constants for all schedulers: a launch loses 25 s and 5 iterations, and an "
    "iteration takes 1.016 of its time in the trace; with 1.015 the averages move by up to 2 "
    "points, so that smaller differences mean nothing",
    "tiresias": "on the hardware job 137 (32 GPUs, 324 s of work) just missed the end of its first "
    "round, fell into the last queue and starved there for 2.7 million s, 2 % of the average; "
    "here it ends 4 s before that round does, unless its launch costs more, as it does in some of "
    "those runs",
    "themis-muri": "Muri's code takes a job's time in the shared cluster in seconds and its time "
    "alone in iterations; themis-max-min has seconds throughout",
}
_OTHERS = {
    "themis-max-min": "{off:+.1%} from Muri's Themis on the hardware ({expected:,.0f} s), which "
    "mixes seconds and iterations: the same programme in seconds throughout",
    "ftf": "{off:+.1%} from Muri's Themis on the hardware ({expected:,.0f} s), which is another "
    "policy: ftf puts first whoever suffers most at the moment, as short jobs soon do, while "
    "Muri's spreads fractions of time over all jobs, and puts first who was launched least for its "
    "fraction",
}


@dataclass(frozen=True)
class Comparison:
    """A scheduler in a setting against the hardware. repeats: with launches' costs that spread."""

    policy: str
    setting: str
    ours: Replay
    measured: Replay
    repeats: tuple[Replay, ...]

    @property
    def errors(self) -> Floats:
        """(jobs,): simulated over measured completion time, less 1."""
        ratio: Floats = self.ours.jct_s.to_numpy() / self.measured.jct_s.to_numpy()
        return ratio - 1

    def figures(self) -> list[ReproducedFigure]:
        """Average completion time, makespan, and how far off a job is."""
        aimed = self.setting == _FULL or self.policy in _SHORTEST_FIRST
        tolerance = _TARGET if aimed else None
        return [
            self._average(tolerance),
            self._makespan(tolerance),
            ReproducedFigure(
                name=f"{self.policy}, {self.setting}: error of a job, median",
                unit="%",
                ours=100 * float(np.median(np.abs(self.errors))),
                note="of the absolute error of its completion time",
            ),
        ]

    def _average(self, tolerance: float | None) -> ReproducedFigure:
        ours, measured = self.ours.jct_s.to_numpy(), self.measured.jct_s.to_numpy()
        low, high = _error_of_mean(ours, measured)
        expected = float(measured.mean())
        note = f"{ours.mean() / expected - 1:+.1%} (95 %: {low:+.1%} to {high:+.1%}, {_BOOTSTRAP})"
        if self.repeats:
            means = [one.jct_s.mean() / expected - 1 for one in self.repeats]
            runs = f"{len(means)} runs in which launches cost unequal times"
            note += f"; {min(means):+.1%} to {max(means):+.1%} in {runs}"
        if self.setting == _FULL:
            note += f"; {_EXPLANATIONS[self.policy]}"
        return ReproducedFigure(
            name=f"{self.policy}, {self.setting}: average JCT",
            unit="s",
            ours=float(ours.mean()),
            interval=((1 + low) * expected, (1 + high) * expected),
            expected=expected,
            source=_source(self.policy),
            tolerance=tolerance,
            note=note,
        )

    def _makespan(self, tolerance: float | None) -> ReproducedFigure:
        ours, expected = self.ours.makespan_s, self.measured.makespan_s
        note = f"{ours / expected - 1:+.1%}"
        interval = None
        if len(self.repeats) > 1:
            makespans_s = [one.makespan_s for one in self.repeats]
            low, high = np.percentile(makespans_s, (2.5, 97.5))
            interval = (float(low), float(high))
            note += (
                f" ({low / expected - 1:+.1%} to {high / expected - 1:+.1%}: percentiles of "
                f"{len(makespans_s)} runs in which launches cost unequal times; a makespan is one "
                "number, over which jobs cannot be resampled)"
            )
        else:
            note += " (nothing here is random, and jobs cannot be resampled: no interval)"
        return ReproducedFigure(
            name=f"{self.policy}, {self.setting}: makespan",
            unit="s",
            ours=ours,
            interval=interval,
            expected=expected,
            source=_source(self.policy),
            tolerance=tolerance,
            note=note,
        )


def _source(policy: str) -> str:
    return f"Rivendile/Muri, cluster_exp/results/{_RESULTS[policy]}/job.csv"


def _error_of_mean(ours: Floats, measured: Floats) -> tuple[float, float]:
    """95 % interval of mean(ours) / mean(measured) - 1 over pairs of one job each."""
    from scipy.stats import bootstrap  # imported here: every command would wait for it otherwise

    def error(ours: Floats, measured: Floats, axis: int = -1) -> Floats:
        ratio: Floats = ours.mean(axis=axis) / measured.mean(axis=axis)
        return ratio - 1

    found = bootstrap(
        (ours, measured), error, paired=True, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    return float(found.low), float(found.high)


def _others(trace: JobTrace, themis: Replay) -> list[ReproducedFigure]:
    """Policies that may be taken for the Themis that was measured, and are not."""
    expected = float(themis.jct_s.mean())
    figures = []
    for policy, words in _OTHERS.items():
        ours = float(replay(trace, policy, MEASURED_OVERHEADS).jct_s.mean())
        note = words.format(expected=expected, off=ours / expected - 1)
        figures.append(ReproducedFigure(f"{policy}, {_FULL}: average JCT", "s", ours, note=note))
    return figures


def _drawings(comparisons: list[Comparison]) -> tuple[Drawing, ...]:
    share = np.linspace(0, 1, 101)
    most = share[:91]
    times, errors = [], []
    for one in comparisons:
        if one.setting != _FULL:
            continue
        off = np.quantile(100 * np.abs(one.errors), most)
        errors.append(Curve(one.policy, tuple(100 * most), tuple(off)))
        for name, replayed in (("simulated", one.ours), ("measured", one.measured)):
            hours = np.quantile(replayed.jct_s / 3600, share)
            curve = Curve(f"{one.policy}, {name}", tuple(hours), tuple(100 * share))
            times.append(replace(curve, published=replayed is one.measured))
    return (
        Drawing(
            "muri-physical-jct",
            "Completion times on 64 V100 GPUs, simulated with overheads and measured",
            "job completion time in h",
            "jobs in %",
            tuple(times),
            "Each simulated line should lie on the measured one of the same scheduler.",
        ),
        Drawing(
            "muri-physical-errors",
            "How far a job's completion time, simulated with overheads, is from the measured one",
            "jobs in %",
            "absolute error up to, in %",
            tuple(errors),
            "Half of the jobs are within a few per cent; the last tenth, which is not drawn, holds "
            "jobs that were taken in another order.",
        ),
    )


def _compare(
    folder: Path, trace: JobTrace, policy: str, repeats: int
) -> tuple[Comparison, Comparison]:
    """``policy`` in both settings."""
    file = folder / "results" / _RESULTS[policy] / "job.csv"
    results = read_muri_results(file).set_index("job")
    jct_s = results["jct_s"].loc[trace.jobs["job"]]
    measured = Replay(jct_s, float(results["finish_s"].max()))
    bare = replay(trace, policy, NO_OVERHEADS)
    full = replay(trace, policy, MEASURED_OVERHEADS)
    spread = tuple(replay(trace, policy, SPREAD_OVERHEADS, seed) for seed in range(1, 1 + repeats))
    return (
        Comparison(policy, _BARE, bare, measured, ()),
        Comparison(policy, _FULL, full, measured, spread),
    )


def _run(data: Path, seeds: int | None, say: Say) -> Reproduction:
    folder = data / _FOLDER
    trace = read_muri_trace(folder / _TRACE)
    comparisons: list[Comparison] = []
    others: list[ReproducedFigure] = []
    interrupted = False
    try:
        for policy in _RESULTS:
            say(f"{policy}: {_BARE}, {_FULL}, and with launches of unequal cost")
            comparisons += _compare(folder, trace, policy, _REPEATS if seeds is None else seeds)
        others = _others(trace, comparisons[-1].measured)
    except KeyboardInterrupt:
        interrupted = True
    figures = [figure for one in comparisons for figure in one.figures()]
    return Reproduction((*figures, *others), _drawings(comparisons), (trace.source,), interrupted)


RECIPE = Recipe(
    id="muri-physical",
    title="Muri's 400 jobs on 64 V100 GPUs, simulated and measured",
    source="Muri (SIGCOMM'22), the testbed; github.com/Rivendile/Muri, cluster_exp",
    seconds=25,
    needs_data=True,
    run=_run,
)
