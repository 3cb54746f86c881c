"""Our own run directories: iterations of jobs that share links, or jobs scheduled in rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from harness.fidelity.inputs.results import Results, checked_iterations, checked_jobs
from harness.fidelity.inputs.tables import counted_rows, parquet_frame, parquet_names
from harness.report.words import listed
from traces.errors import BadInputError
from traces.run_directory import read_json

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
_BOTH_ALLOWED = (
    "a directory that 'roundelay run' wrote, with what it emulated and what it simulated; or a "
    "second file or directory, which the first one is compared with"
)


def both_sides(run: Path | str) -> tuple[str, str]:
    """Where a run directory that has both sides keeps its reference, and its prediction.

    run: also a pattern.
    """
    return str(Path(run, _SIDES["reference"])), str(Path(run, _SIDES["prediction"]))


def require_both_sides(run: Path) -> None:
    """BadInputError where ``run`` is no run directory that has both sides."""
    if not run.exists():
        raise BadInputError("there is no such file or directory", allowed=_BOTH_ALLOWED, file=run)
    if not run.is_dir():
        raise BadInputError(
            "there is nothing that it could be compared with", allowed=_BOTH_ALLOWED, file=run
        )
    for side in both_sides(run):
        if not Path(side).is_dir():
            raise BadInputError(
                f"there is no directory {Path(side).name} in it", allowed=_BOTH_ALLOWED, file=run
            )


def read_run(directory: Path, role: Role) -> Results:
    """The tables in ``directory``, or in that of its sides which the role asks for.

    Raises BadInputError where there are none, or one is damaged.
    """
    side = directory / _SIDES[role]
    place = side if side.is_dir() else directory
    found = _tables(place)
    return replace(
        found,
        notes=(*found.notes, *_interruption(place)),
        warnings=tuple(_verdicts(place / "verdict.json")),
    )


def _tables(place: Path) -> Results:
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


def _interruption(place: Path) -> Iterator[str]:
    """What the summary of the run says of its end, where there is one."""
    run = place.parent if place.name in _SIDES.values() else place
    summary = run / "summary.json"
    if summary.is_file() and _entries(read_json(summary)).get("interrupted") is True:
        yield "the run was interrupted: what was not done by then is missing"


def _verdicts(file: Path) -> Iterator[str]:
    """A warning of the arms whose emulation is not valid."""
    if not file.is_file():
        return
    arms: dict[str, list[str]] = {}
    for arm, verdict in _entries(read_json(file)).items():
        arms.setdefault(str(_entries(verdict).get("status")), []).append(arm)
    for status, names in arms.items():
        if status != "valid":
            yield f"the emulation of {listed(names)} is {status}: {file} says why"


def _entries(document: Any) -> dict[str, Any]:
    """Of a JSON object; none of anything else."""
    return document if isinstance(document, dict) else {}


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
