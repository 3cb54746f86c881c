"""What the report reads of the directory of a run of rounds: tables by columns, and no more rows
than it shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from harness.report.documents import read_document, read_scenario_text
from harness.report.rounds.documents import ArmRead, Provenance, SeedRead, Summary
from harness.report.rounds.emulated_data import EmulatedData, read_emulated
from harness.report.rounds.occupancy import Occupancy, OccupancyBins
from harness.report.rounds.parquet import parts, rows
from harness.report.rounds.sides import Sides, sides_of
from harness.report.thinning import Floats

JOB_COLUMNS = ["arm", "seed", "model", "num_gpus", "alone_s", "submit_s", "jct_s"]
LEASE_COLUMNS = ["arm", "seed", "gpus", "from_s", "until_s"]


@dataclass(frozen=True)
class RunData:
    """One run.

    jobs: JOB_COLUMNS of the jobs that count, of all arms and seeds; jct_s is missing where a job
    has not ended. occupancy: of each arm that ran, its GPUs in use with its first seed. Both are of
    the side that is ``shown``. emulated: None where nothing was. timelines: timeline.json of each
    side that has one, as seen from the directory of the run.
    """

    summary: Summary
    sides: Sides
    jobs: pd.DataFrame
    occupancy: dict[str, Occupancy]
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
        jobs = self.jobs
        own_s = jobs.loc[(jobs["arm"] == arm.name) & (jobs["seed"] == run.seed), "submit_s"]
        return float(own_s.min()), float(own_s.max())


def read_run(directory: Path) -> RunData:
    """Read what a verb left of a scenario of rounds. BadInputError where it is damaged."""
    summary = read_document(directory / "summary.json", Summary)
    sides = sides_of(directory, summary)
    tables = sides.places[sides.shown]
    return RunData(
        summary=summary,
        sides=sides,
        jobs=rows(tables / "jobs.parquet", [*JOB_COLUMNS, "counted"], pc.field("counted"))[
            JOB_COLUMNS
        ],
        occupancy=_occupancy(tables / "rounds.parquet", summary),
        emulated=read_emulated(sides),
        timelines=_timelines(directory, sides),
        provenance=read_document(directory / "provenance.json", Provenance),
        scenario_text=read_scenario_text(directory),
    )


def _timelines(directory: Path, sides: Sides) -> list[str]:
    files = [place / "timeline.json" for place in sides.places.values()]
    return [str(file.relative_to(directory)) for file in files if file.is_file()]


def _occupancy(file: Path, summary: Summary) -> dict[str, Occupancy]:
    shown = {arm.name: (arm, arm.runs[0]) for arm in summary.arms if arm.runs}
    bins = {name: OccupancyBins(run.end_s, arm.round_s) for name, (arm, run) in shown.items()}
    for leases in parts(file, LEASE_COLUMNS):
        for name, (_, run) in shown.items():
            _add(bins[name], leases, name, run)
    return {name: of_arm.occupancy() for name, of_arm in bins.items()}


def _add(bins: OccupancyBins, leases: pa.Table, arm: str, run: SeedRead) -> None:
    own = leases.filter((pc.field("arm") == arm) & (pc.field("seed") == run.seed))
    gpus, from_s, until_s = (
        np.asarray(own[column], dtype=float) for column in ("gpus", "from_s", "until_s")
    )
    bins.add(from_s, until_s, gpus)
