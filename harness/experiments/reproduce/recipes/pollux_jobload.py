"""Pollux against Tiresias on eight workloads of 160 jobs: its authors' simulated cluster.

(OSDI'21, section 5.3; the relative job load 1.0 of figure 8a.) Tiresias draws nothing at random, so
that each of its jobs has to end in the second in which it did for the authors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from harness.experiments.intervals import mean_over_seeds, ratio_over_seeds
from harness.experiments.reproduce.comparisons import Published, curve, figure, joined
from harness.experiments.reproduce.data_files import data_file
from harness.experiments.reproduce.pollux.published import PublishedRuns, read_published
from harness.experiments.reproduce.pollux.simulate import PolicyName, Run, Times, simulate_all
from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    QuickForm,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from traces.errors import BadInputError
from traces.formats.csv_table import read_csv_table
from traces.formats.pollux_files import WORKLOAD_COLUMNS

_FOLDER = Path("pollux")
_WORKLOAD = re.compile(r"workload-[1-9]\d{0,3}")
_POLICIES: tuple[PolicyName, ...] = ("tiresias", "pollux")
_SEEDS = 1
_QUICK = "workload-6"  # that which the authors also ran on their testbed
_OURS = 0.05  # of Pollux' averages, which its authors say vary by as much
_SOURCE = "petuum/adaptdl, branch osdi21-artifact, simulator/results-jobload/{}-1.0/summary.json"
_SEARCH_NOTE = "the search draws at random, and no seed of the published runs is known"
_RATIO_NOTE = "of the means over all workloads"

Done = Mapping[Run, Times]
Wanted = Mapping[str, Path]
"""Workload files by name."""


def _all_workloads(data: Path, published: Mapping[PolicyName, PublishedRuns]) -> dict[str, Path]:
    """Those of which there are published runs."""
    files = {}
    for name in sorted({*published["pollux"].average_s, _QUICK}):
        known = all(name in each.average_s for each in published.values())
        if not known or not _WORKLOAD.fullmatch(name):
            raise BadInputError(
                f"there are no published runs of {name!r}, or only those of one policy",
                allowed=f"of workload-1, workload-2 and so on, {_QUICK} among them, by both",
                file=data / _FOLDER / "results-jobload",
            )
        files[name] = data_file(data, _FOLDER / "workloads" / f"{name}.csv")
    return files


def _runs(data: Path, wanted: Wanted, seeds: range) -> list[Run]:
    """Those that take longest last: whoever stops them has a part of them that is whole."""
    traces = data / _FOLDER / "traces"
    runs = [Run("tiresias", file, traces, 0) for file in wanted.values()]
    return runs + [Run("pollux", file, traces, seed) for seed in seeds for file in wanted.values()]


def _of(done: Done, policy: PolicyName, file: Path) -> list[Times]:
    """The runs of a workload that were made, one a seed."""
    return [times for run, times in done.items() if (run.policy, run.workload) == (policy, file)]


def _averages(done: Done, policy: PolicyName, wanted: Wanted) -> list[float]:
    """Of each seed that has all workloads, the mean over them of the average completion time."""
    by_seed: dict[int, list[float]] = {}
    for run, times in done.items():
        if run.policy == policy:
            by_seed.setdefault(run.seed, []).append(_average_s(times))
    return [float(np.mean(each)) for each in by_seed.values() if len(each) == len(wanted)]


def _published_s(theirs: PublishedRuns, wanted: Wanted) -> float:
    """The same of the published runs."""
    return float(np.mean([theirs.average_s[name] for name in wanted]))


def _average_s(times: Times) -> float:
    return float(np.mean(list(times.values())))


def _figures(
    done: Done, wanted: Wanted, published: Mapping[PolicyName, PublishedRuns]
) -> Iterator[ReproducedFigure]:
    for policy in _POLICIES:
        tolerance = _OURS if policy == "pollux" else 0.0
        source = _SOURCE.format(policy)
        note = _SEARCH_NOTE if policy == "pollux" else ""
        theirs = published[policy]
        for name, file in wanted.items():
            runs = _of(done, policy, file)
            if runs:
                interval = mean_over_seeds([_average_s(times) for times in runs])
                there = Published(theirs.average_s[name], tolerance, source)
                off = f"{interval.value / theirs.average_s[name] - 1:+.1%}"
                words = joined(off, note) if policy == "pollux" else ""
                yield figure(f"{policy}, {name}: average JCT", "s", interval, there, words)
        averages = _averages(done, policy, wanted)
        if averages and len(wanted) > 1:
            mean, mean_s = mean_over_seeds(averages), _published_s(published[policy], wanted)
            words = joined(f"{mean.value / mean_s - 1:+.1%}", note) if note else ""
            there = Published(mean_s, tolerance, source)
            yield figure(f"{policy}, mean of the workloads: average JCT", "s", mean, there, words)
    yield from _same_second(done, wanted, published["tiresias"])
    yield from _ratio(done, wanted, published)


def _same_second(done: Done, wanted: Wanted, theirs: PublishedRuns) -> Iterator[ReproducedFigure]:
    """Of the jobs under Tiresias, the share that end as they did for the authors."""
    same = [
        times.get(job) == jct_s
        for name, file in wanted.items()
        for times in _of(done, "tiresias", file)
        for job, jct_s in theirs.jct_s[name].items()
    ]
    if same:
        yield ReproducedFigure(
            name="tiresias: jobs that end in the same second",
            unit="share",
            ours=float(np.mean(same)),
            expected=1.0,
            source=_SOURCE.format("tiresias"),
            tolerance=0.0,
            note=f"of {len(same):,} jobs",
        )


def _ratio(
    done: Done, wanted: Wanted, published: Mapping[PolicyName, PublishedRuns]
) -> Iterator[ReproducedFigure]:
    tiresias, pollux = (_averages(done, policy, wanted) for policy in _POLICIES)
    if tiresias and pollux:
        ratio = ratio_over_seeds(tiresias * len(pollux), pollux)
        their_tiresias, their_pollux = (_published_s(published[each], wanted) for each in _POLICIES)
        expected = their_tiresias / their_pollux
        there = Published(expected, _OURS, _SOURCE.format("{tiresias,pollux}"))
        yield figure("average JCT, tiresias over pollux", "x", ratio, there, _RATIO_NOTE)


def _drawings(
    done: Done, wanted: Wanted, published: Mapping[PolicyName, PublishedRuns]
) -> tuple[Drawing, ...]:
    averages: list[Curve] = []
    times: list[Curve] = []
    for policy in _POLICIES:
        theirs = published[policy]
        made = {name: _of(done, policy, file) for name, file in wanted.items()}
        names = [name for name in wanted if made[name]]
        if not names:
            continue
        x = [float(list(wanted).index(name)) for name in names]
        ours = [mean_over_seeds([_average_s(each) for each in made[name]]) for name in names]
        points = curve(policy, list(zip(x, ours, strict=True)))
        averages += [points] if points else []
        there = tuple(theirs.average_s[name] for name in names)
        averages.append(Curve(f"{policy}, published", tuple(x), there, published=True))
        ours_s = [time_s for name in names for each in made[name] for time_s in each.values()]
        times.append(_distribution(policy, ours_s, published=False))
        theirs_s = [time_s for name in names for time_s in theirs.jct_s[name].values()]
        times.append(_distribution(f"{policy}, published", theirs_s, published=True))
    if not averages:
        return ()
    return (
        Drawing(
            "pollux-jobload-averages",
            "160 jobs on 64 GPUs, eight workloads: our simulation and the published one",
            "workload",
            "average job completion time in s",
            tuple(averages),
            "Our points for Tiresias lie on the published ones, and those for Pollux, which draws "
            "at random, near them.",
            tuple(name.removeprefix("workload-") for name in wanted),
        ),
        Drawing(
            "pollux-jobload-jct",
            "Completion times of all jobs",
            "job completion time in s, its logarithm to the base 10",
            "jobs in %",
            tuple(times),
            "Each of our lines lies on the published one of the same policy, or near it.",
        ),
    )


def _distribution(name: str, jct_s: Sequence[float], *, published: bool) -> Curve:
    share = np.linspace(0, 1, 101)
    log10_s = np.log10(np.maximum(np.quantile(jct_s, share), 1.0))
    return Curve(name, tuple(log10_s), tuple(100 * share), published=published)


def _inputs(wanted: Wanted) -> Iterator[str]:
    for file in wanted.values():
        yield read_csv_table(file, WORKLOAD_COLUMNS, has_header=True).source


def _run(data: Path, seeds: int | None, say: Say) -> Reproduction:
    return _reproduce(data, seeds, say, None)


def _run_quickly(data: Path, seeds: int | None, say: Say) -> Reproduction:
    return _reproduce(data, seeds, say, _QUICK)


def _reproduce(data: Path, seeds: int | None, say: Say, only: str | None) -> Reproduction:
    """only: the name of a workload, where not all are simulated."""
    published = {
        policy: read_published(
            data_file(data, _FOLDER / "results-jobload" / f"{policy}-1.0" / "summary.json")
        )
        for policy in _POLICIES
    }
    wanted = _all_workloads(data, published)
    if only is not None:
        wanted = {only: wanted[only]}
    inputs = tuple(_inputs(wanted))
    runs = _runs(data, wanted, range(1, 1 + (seeds or _SEEDS)))
    done, interrupted = simulate_all(runs, say)
    return Reproduction(
        tuple(_figures(done, wanted, published)),
        _drawings(done, wanted, published),
        inputs,
        interrupted,
    )


RECIPE = Recipe(
    id="pollux-jobload",
    title="Pollux and Tiresias, eight workloads of 160 jobs on 64 simulated GPUs",
    source="Pollux (OSDI'21), section 5.3; github.com/petuum/adaptdl, branch osdi21-artifact",
    seconds=300,
    needs_data=True,
    run=_run,
    quick=QuickForm(seconds=60, run=_run_quickly, less=f"{_QUICK} alone"),
)
