"""Our own run directories: iterations of jobs that share links, or jobs scheduled in rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pandas as pd

from harness.fidelity.inputs.results import Results, checked_iterations, checked_jobs
from harness.fidelity.inputs.tables import counted_rows, parquet_frame, parquet_names
from traces.errors import BadInputError

Role = Literal["reference", "prediction"]

_SIDES: dict[Role, str] = {"reference": "emulated", "prediction": "simulated"}
"""Which side of a directory that has both is meant."""

_JOBS = (
    *("arm", "seed", "job", "jct_s", "submit_s", "start_s", "finish_s", "attained_s", "leases"),
    "counted",
)
_ITERATIONS = (
    *("arm", "job", "iteration", "start_s", "communication_start_s", "end_s", "iteration_s"),
    "counted",
)
_STEPS = ("arm", "seed", "job", "server", "stall_s")
_ALLOWED = "a directory that 'roundelay run', 'simulate' or 'emulate' wrote"


def read_run(directory: Path, role: Role) -> Results:
    """The tables in ``directory``, or in that of its sides which the role asks for.

    Raises BadInputError where there are none, or one is damaged.
    """
    side = directory / _SIDES[role]
    place = side if side.is_dir() else directory
    jobs, iterations = place / "jobs.parquet", place / "iterations.parquet"
    names = parquet_names(iterations) if iterations.is_file() else []
    if jobs.is_file() and "jct_s" in parquet_names(jobs):
        return _rounds(place, jobs, iterations if "stall_s" in names else None)
    if not names:
        raise BadInputError(
            "there is no iterations.parquet, and no jobs.parquet with completion times",
            allowed=_ALLOWED,
            file=place,
        )
    return _iterations(place, iterations)


def _iterations(place: Path, file: Path) -> Results:
    frame = _whole(file, _ITERATIONS)
    frame, notes = counted_rows(frame)
    frame = frame.assign(
        compute_s=frame["communication_start_s"] - frame["start_s"],
        communication_s=frame["end_s"] - frame["communication_start_s"],
        wait_s=(frame["iteration_s"] - (frame["end_s"] - frame["start_s"])).clip(lower=0),
    )
    frame = frame.drop(columns=["start_s", "communication_start_s", "end_s"])
    return Results(str(place), None, checked_iterations(frame, file), notes)


def _rounds(place: Path, file: Path, steps: Path | None) -> Results:
    frame = _whole(file, _JOBS)
    frame, notes = counted_rows(frame)
    frame = frame.assign(
        queue_s=frame["start_s"] - frame["submit_s"],
        run_s=frame["attained_s"],
        starts=frame["leases"].astype(float),
    ).drop(columns=["start_s", "attained_s", "leases"])
    if steps is not None:
        frame = frame.merge(_stalls(steps), on=["arm", "seed", "job"], how="left").set_axis(
            frame.index
        )
    return Results(str(place), checked_jobs(frame, file), None, notes)


def _stalls(file: Path) -> pd.DataFrame:
    """Of each job, how long its GPUs waited for data: the mean over its servers."""
    steps = _whole(file, _STEPS)
    key = ["arm", "seed", "job"]
    of_servers = steps.groupby([*key, "server"], sort=False)["stall_s"].sum()
    return of_servers.groupby(key, sort=False).mean().reset_index()


def _whole(file: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    frame = parquet_frame(file, columns)
    missing = next((name for name in columns if name not in frame), None)
    if missing is not None:
        raise BadInputError(f"lacks the column {missing!r}", allowed=_ALLOWED, file=file)
    return frame
