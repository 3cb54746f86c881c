"""What the report reads of the directory of a run of rounds: tables by columns, and no more rows
than it shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from harness.report.documents import read_document, read_scenario_text
from harness.report.rounds.documents import ArmRead, Provenance, SeedRead, Summary
from harness.report.rounds.occupancy import Occupancy, OccupancyBins
from harness.report.thinning import Floats
from traces.errors import BadInputError

JOB_COLUMNS = ["arm", "seed", "model", "num_gpus", "alone_s", "submit_s", "jct_s"]
LEASE_COLUMNS = ["arm", "seed", "gpus", "from_s", "until_s"]

_NAMES = ("arm", "model")
_ROWS_AT_ONCE = 1_000_000
_ALLOWED = "a run directory that 'roundelay simulate' wrote"


@dataclass(frozen=True)
class RunData:
    """One run.

    jobs: JOB_COLUMNS of the jobs that count, of all arms and seeds; jct_s is missing where a job
    has not ended. occupancy: of each arm that ran, its GPUs in use with its first seed.
    """

    summary: Summary
    jobs: pd.DataFrame
    occupancy: dict[str, Occupancy]
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
    """Read what a verb left of a scenario of rounds. BadInputError where it is damaged.

    Where it was both simulated and emulated, the tables are those of the simulation.
    """
    summary = read_document(directory / "summary.json", Summary)
    predicted = directory / "simulated"
    tables = predicted if predicted.is_dir() else directory
    return RunData(
        summary=summary,
        jobs=_jobs(tables / "jobs.parquet"),
        occupancy=_occupancy(tables / "rounds.parquet", summary),
        provenance=read_document(directory / "provenance.json", Provenance),
        scenario_text=read_scenario_text(directory),
    )


def _jobs(file: Path) -> pd.DataFrame:
    with _parquet(file, [*JOB_COLUMNS, "counted"]) as parquet:
        try:
            parts = [
                pa.Table.from_batches([batch]).filter(pc.field("counted")).select(JOB_COLUMNS)
                for batch in parquet.iter_batches(_ROWS_AT_ONCE, columns=[*JOB_COLUMNS, "counted"])
            ]
        except (OSError, pa.ArrowException) as error:
            raise _damaged(file, error) from None
    empty = parquet.schema_arrow.empty_table().select(JOB_COLUMNS)
    found: pd.DataFrame = pa.concat_tables(parts or [empty]).to_pandas()
    return found


def _occupancy(file: Path, summary: Summary) -> dict[str, Occupancy]:
    shown = {arm.name: (arm, arm.runs[0]) for arm in summary.arms if arm.runs}
    bins = {name: OccupancyBins(run.end_s, arm.round_s) for name, (arm, run) in shown.items()}
    with _parquet(file, LEASE_COLUMNS) as parquet:
        try:
            for batch in parquet.iter_batches(_ROWS_AT_ONCE, columns=LEASE_COLUMNS):
                leases = pa.Table.from_batches([batch])
                for name, (_, run) in shown.items():
                    _add(bins[name], leases, name, run)
        except (OSError, pa.ArrowException) as error:
            raise _damaged(file, error) from None
    return {name: of_arm.occupancy() for name, of_arm in bins.items()}


def _add(bins: OccupancyBins, leases: pa.Table, arm: str, run: SeedRead) -> None:
    own = leases.filter((pc.field("arm") == arm) & (pc.field("seed") == run.seed))
    gpus, from_s, until_s = (
        np.asarray(own[column], dtype=float) for column in ("gpus", "from_s", "until_s")
    )
    bins.add(from_s, until_s, gpus)


def _parquet(file: Path, columns: list[str]) -> pq.ParquetFile:
    """``file``, open, with names as dictionaries. BadInputError where it is no such table."""
    if not file.is_file():
        raise BadInputError(f"there is no {file.name}", allowed=_ALLOWED, file=file.parent)
    try:
        there = pq.read_schema(file).names
    except (OSError, pa.ArrowException) as error:
        raise _damaged(file, error) from None
    for column in columns:
        if column not in there:
            raise BadInputError(f"lacks the column {column!r}", allowed=_ALLOWED, file=file)
    return pq.ParquetFile(file, read_dictionary=[name for name in _NAMES if name in columns])


def _damaged(file: Path, error: Exception) -> BadInputError:
    reason = str(error).partition("\n")[0]
    return BadInputError(f"cannot be read: {reason}", allowed=_ALLOWED, file=file)
