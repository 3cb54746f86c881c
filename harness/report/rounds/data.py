"""What the report reads of the directory of a run of rounds: tables by columns, and no more rows
than it shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc

from harness.report.documents import read_document, read_scenario_text
from harness.report.rounds.documents import ArmRead, Provenance, Summary
from harness.report.rounds.emulated_data import EmulatedData, read_emulated
from harness.report.rounds.leases import LeasesRead, read_leases
from harness.report.rounds.parquet import rows
from harness.report.rounds.sides import Sides, sides_of
from harness.report.thinning import Floats

JOB_COLUMNS = ["arm", "seed", "model", "num_gpus", "alone_s", "submit_s", "jct_s"]


@dataclass(frozen=True)
class RunData:
    """One run.

    jobs: JOB_COLUMNS of the jobs that count, of all arms and seeds; jct_s is missing where a job
    has not ended. leases: of each arm that ran, with its first seed. Both are of the side that is
    ``shown``. emulated: None where nothing was. timelines: timeline.json of each side that has one,
    as seen from the directory of the run.
    """

    summary: Summary
    sides: Sides
    jobs: pd.DataFrame
    leases: LeasesRead
    emulated: EmulatedData | None
    timelines: list[str]
    provenance: Provenance
    scenario_text: str

    @property
    def shown_arms(self) -> list[tuple[int, ArmRead]]:
        """The arms of which a job that counts has ended, with their numbers, which decide their
        colours."""
        return [(i, arm) for i, arm in enumerate(self.summary.arms) if arm.jct_mean_s]

    @property
    def all_ended(self) -> pd.DataFrame:
        """The jobs that have ended, of all arms and seeds."""
        return self.jobs[self.jobs["jct_s"].notna()]

    def completion_s(self, arm: str) -> Floats:
        """Completion times of the jobs of ``arm`` that have ended, of all seeds."""
        ended = self.all_ended
        return ended.loc[ended["arm"] == arm, "jct_s"].to_numpy(dtype=float)

    @property
    def counted_submissions_s(self) -> tuple[float, float] | None:
        """From when to when jobs that count were submitted in the first run; None where all do."""
        runs = [(arm, run) for arm in self.summary.arms for run in arm.runs]
        if not runs:
            return None
        arm, run = runs[0]
        if run.jobs.counted == run.jobs.ran:
            return None
        own_s = submissions_s(self.jobs, arm.name, run.seed)
        return float(own_s.min()), float(own_s.max())


def submissions_s(jobs: pd.DataFrame, arm: str, seed: int) -> pd.Series[float]:
    """When each of the ``jobs`` of an arm with a seed was submitted."""
    return jobs.loc[(jobs["arm"] == arm) & (jobs["seed"] == seed), "submit_s"]


def read_run(directory: Path) -> RunData:
    """Read what a verb left of a scenario of rounds. BadInputError where it is damaged."""
    summary = read_document(directory / "summary.json", Summary)
    sides = sides_of(directory, summary)
    tables = sides.places[sides.shown]
    counted = rows(tables / "jobs.parquet", [*JOB_COLUMNS, "counted"], pc.field("counted"))
    jobs = counted[JOB_COLUMNS]
    return RunData(
        summary=summary,
        sides=sides,
        jobs=jobs,
        leases=read_leases(tables, summary.arms, _first_counted_s(jobs, summary)),
        emulated=read_emulated(sides),
        timelines=_timelines(directory, sides),
        provenance=read_document(directory / "provenance.json", Provenance),
        scenario_text=read_scenario_text(directory),
    )


def _timelines(directory: Path, sides: Sides) -> list[str]:
    files = [place / "timeline.json" for place in sides.places.values()]
    return [str(file.relative_to(directory)) for file in files if file.is_file()]


def _first_counted_s(jobs: pd.DataFrame, summary: Summary) -> dict[str, float]:
    """By arm, when the first job that counts was submitted with its first seed; 0 where all do."""
    found = {}
    for arm in summary.arms:
        if arm.runs and arm.runs[0].jobs.counted < arm.runs[0].jobs.ran:
            own_s = submissions_s(jobs, arm.name, arm.runs[0].seed)
            found[arm.name] = float(own_s.min()) if len(own_s) else 0.0
    return found
