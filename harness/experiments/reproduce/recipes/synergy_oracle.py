"""Nine runs of Synergy's published simulator, each of their jobs beside ours.

It was run with its own seed (42), and its job traces and completion times recorded. Here the same
traces go through the round engine with that simulator's semantics: a job ends at the end of a
round, a round holds whole iterations, a job has one of two speeds, orders and the walk over servers
are the published code's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.experiments.reproduce.data_files import ORACLE, data_file
from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.experiments.reproduce.simulated import Simulated, Simulation, simulate_all
from harness.experiments.reproduce.synergy import PROPORTIONAL, WALK, replayed, scenario
from harness.job_table import Floats
from traces.errors import BadInputError
from traces.formats.csv_table import CsvTable, read_csv_table

_SOURCE = "msr-fiddle/synergy, commit 1bb2bed, its simulator run with seed 42"
_SUMMARY = ("policy", "mechanism", "jobs_per_hour", "mean_jct_h", "p99_h", "p99_9_h")
_JOBS = ("job", "model", "arrival_s", "finish_s", "gpus", "iterations")
_SEMANTICS = {
    "completion": "round-end",
    "progress": "whole-iterations",
    "speeds": "two-point",
}
_POLICIES = {"fifo": "fifo", "srtf": "srtf-published", "las": "las", "ftf": "ftf-published"}
_MECHANISMS = {"proportional": PROPORTIONAL, "tune": WALK}
_ROUND_S = 300.0
_EXPLAINED = {
    "srtf tune, 9 jobs/h": (
        "the recorded trace ends at 769 h while the published run went on generating jobs until "
        "879 h: one job, which later ones overtook there, ends 86 rounds earlier here"
    )
}
_UNEXPLAINED = "the semantics are the published simulator's, and no reason is known"


@dataclass(frozen=True)
class Recorded:
    """A recorded run. finish_s: (jobs,), not-a-number where none was recorded."""

    policy: str
    mechanism: str
    jobs_per_hour: int
    mean_h: float
    p99_h: float
    trace: Path
    finish_s: Floats

    def __str__(self) -> str:
        return f"{self.policy} {self.mechanism}, {self.jobs_per_hour} jobs/h"

    @property
    def scenario(self) -> dict[str, Any]:
        """The same run, for our simulator."""
        return scenario(
            _POLICIES[self.policy],
            _MECHANISMS[self.mechanism],
            replayed(str(self.trace)),
            simulation=_SEMANTICS,
        )


def _recorded(data: Path) -> list[Recorded]:
    """All runs. Raises BadInputError with file and line."""
    file = data_file(data, ORACLE / "summary.csv")
    table = read_csv_table(file, _SUMMARY, has_header=True)
    runs = []
    for row in range(len(table.lines)):
        policy, mechanism = table.words("policy")[row], table.words("mechanism")[row]
        load = int(table.numbers("jobs_per_hour")[row])
        if policy not in _POLICIES or mechanism not in _MECHANISMS:
            raise BadInputError(
                f"the run {policy} {mechanism} is not known",
                allowed=f"{', '.join(_POLICIES)} with {', '.join(_MECHANISMS)}",
                file=file,
                line=int(table.lines[row]),
            )
        jobs = data_file(data, ORACLE / f"jct_{policy}_{mechanism}_{load}jph.csv")
        runs.append(
            Recorded(
                policy=policy,
                mechanism=mechanism,
                jobs_per_hour=load,
                mean_h=float(table.numbers("mean_jct_h")[row]),
                p99_h=float(table.numbers("p99_h")[row]),
                trace=data_file(data, ORACLE / f"trace_{load}jph.csv"),
                finish_s=_finish_s(read_csv_table(jobs, _JOBS, has_header=True)),
            )
        )
    return runs


def _finish_s(table: CsvTable) -> Floats:
    return np.asarray(table.numbers("finish_s"), dtype=float)


def _figures(recorded: Recorded, run: Simulated) -> Iterator[ReproducedFigure]:
    rounds = _rounds_later(recorded, run)
    differ = int(np.count_nonzero(rounds))
    explained = _EXPLAINED.get(str(recorded), "")
    note = f"{differ} of {len(rounds):,} jobs differ: {explained or _UNEXPLAINED}" if differ else ""
    of_mean = 0.005 if recorded.policy == "fifo" else 0.02
    for name, unit, ours, expected, tolerance in (
        ("mean JCT", "h", run.mean_h, recorded.mean_h, of_mean),
        ("p99 of JCT", "h", float(np.percentile(run.jct_h, 99)), recorded.p99_h, 0.01),
        ("end of a job, ours less theirs, median", "rounds", float(np.median(rounds)), 0.0, 0.0),
        ("jobs that end in the same round", "share", float(np.mean(rounds == 0)), 1.0, 0.001),
    ):
        yield ReproducedFigure(
            name=f"{recorded}: {name}",
            unit=unit,
            ours=ours,
            expected=expected,
            source=_SOURCE,
            tolerance=tolerance,
            note=note,
        )


def _rounds_later(recorded: Recorded, run: Simulated) -> Floats:
    """(jobs,): by how many rounds ours end later, of those whose end is recorded."""
    count = min(len(recorded.finish_s), len(run.finish_s))
    later = (run.finish_s[:count] - recorded.finish_s[:count]) / _ROUND_S
    known: Floats = later[np.isfinite(later)]
    return known


def _curves(recorded: Recorded, run: Simulated) -> Iterator[Curve]:
    """Completion times of the jobs that count, theirs and ours."""
    theirs_s = recorded.finish_s[: len(run.submit_s)] - run.submit_s[: len(recorded.finish_s)]
    counts = run.measured[: len(theirs_s)] & np.isfinite(theirs_s)
    share = np.linspace(0, 1, 101)
    for name, jct_h, published in (
        (f"{recorded}", run.jct_h, False),
        (f"{recorded}, published", theirs_s[counts] / 3600, True),
    ):
        if len(jct_h):
            hours = tuple(float(hour) for hour in np.quantile(jct_h, share))
            yield Curve(name, hours, tuple(100 * share), published=published)


def _run(data: Path, seeds: int | None, say: Say) -> Reproduction:
    del seeds  # the authors' traces are one
    every = _recorded(data)
    runs = simulate_all([Simulation(str(each), 42, each.scenario) for each in every], say)
    figures: list[ReproducedFigure] = []
    curves: list[Curve] = []
    for each in every:
        for (run,) in runs.of(str(each)):
            figures += _figures(each, run)
            if each.jobs_per_hour == 9:
                curves += _curves(each, run)
    drawing = Drawing(
        "synergy-oracle-jct",
        "Jobs 4,000 to 4,999 at 9 jobs/h: our simulator and the published one",
        "job completion time in h",
        "jobs in %",
        tuple(curves),
        "Each of our lines lies on the published simulator's, job by job and not only in the mean.",
    )
    return Reproduction(tuple(figures), (drawing,) if curves else (), runs.inputs, runs.interrupted)


RECIPE = Recipe(
    id="synergy-oracle",
    title="Synergy's published simulator, nine runs, job by job",
    source=f"Synergy (OSDI'22); {_SOURCE}",
    seconds=25,
    needs_data=True,
    run=_run,
)
