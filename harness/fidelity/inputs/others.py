"""What other simulators write of the jobs they ran: Muri, Pollux, Batsim and Gavel.

- Muri: ``job.csv``, of its cluster and its simulator (a Tiresias fork).
- Pollux (branch osdi21-artifact): ``summary.json``, completion times by workload; a job is named
  ``WORKLOAD/JOB``, as all workloads have jobs of the same names.
- Batsim: ``PREFIX_jobs.csv``, whose ``turnaround_time`` is the completion time of a job that has
  the ``success`` 1. Jobs that were killed or rejected did not end. A job is named ``WORKLOAD!JOB``
  where there are several workloads, as Batsim itself does.
- Gavel and what was made from it, such as Shockwave: the text that its drivers print, in which
  ``Job 17: 3456.789`` stands for each job below ``Job completion times:``. Its pickles are not
  read, since they may run any code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from harness.experiments.reproduce.pollux.published import read_published
from harness.fidelity.inputs.results import MOST_ROWS, Results, checked_jobs
from traces.errors import BadInputError
from traces.formats.csv_table import read_named_columns
from traces.formats.muri_trace import read_muri_results

_BATSIM_IDS = ("job_id", "jobID")
_BATSIM = ("submission_time", "success", "starting_time", "execution_time", "finish_time")
_BATSIM_NAMES = {"jct_s": "turnaround_time", "run_s": "execution_time", "job": "job_id"}

GAVEL_HEADING = "Job completion times:"
_GAVEL_JOB = re.compile(r"Job (\d{1,12})(?: \((?:low|high) priority\))?: (\d{1,12}(?:\.\d+)?)")
_LONGEST_LINE = 2**20  # characters


def read_muri(file: Path) -> Results:
    """Raises BadInputError, as all of these."""
    found = read_muri_results(file)
    jobs = pd.DataFrame(
        {
            "job": found["job"],
            "jct_s": found["jct_s"],
            "submit_s": found["submit_s"],
            "finish_s": found["finish_s"],
            "queue_s": found["start_s"] - found["submit_s"],
            "run_s": found["executed_s"],
        }
    )
    return Results(str(file), checked_jobs(_from_second_line(jobs), file))


def read_pollux(file: Path) -> Results:
    workloads = read_published(file).jct_s
    rows = [
        (f"{workload}/{job}", jct_s)
        for workload, times in workloads.items()
        for job, jct_s in times.items()
    ]
    jobs = pd.DataFrame(rows, columns=["job", "jct_s"])
    for job, jct_s in rows:
        if jct_s <= 0:
            key = f"jcts.{job.replace('/', '.', 1)}"
            problem = f"the value is {jct_s!r}"
            raise BadInputError(problem, allowed="a time above 0 s", file=file, key=key)
    return Results(str(file), checked_jobs(jobs, file))


def is_batsim(names: list[str]) -> bool:
    """Whether a CSV file with these columns is Batsim's."""
    return "turnaround_time" in names and any(name in names for name in _BATSIM_IDS)


def read_batsim(file: Path, names: list[str]) -> Results:
    identity = next(name for name in _BATSIM_IDS if name in names)
    required = (identity, "turnaround_time", *_BATSIM)
    table = read_named_columns(file, required, ("workload_name",), quotes_are_text=True)
    success = table.numbers("success")
    table.refuse(~np.isin(success, (0, 1)), "success", "0 or 1")
    ended = success == 1
    job = table.words(identity)
    if "workload_name" in table.rows and len(set(workloads := table.words("workload_name"))) > 1:
        job = workloads + "!" + job

    def of_ended(column: str) -> pd.Series:
        return pd.Series(table.numbers_or_nan(column)).where(ended)

    jct_s = of_ended("turnaround_time")
    table.refuse((ended & jct_s.isna()).to_numpy(), "turnaround_time", "a time above 0 s")
    jobs = pd.DataFrame(
        {
            "job": job,
            "jct_s": jct_s,
            "submit_s": of_ended("submission_time"),
            "finish_s": of_ended("finish_time"),
            "queue_s": of_ended("starting_time") - of_ended("submission_time"),
            "run_s": of_ended("execution_time"),
        }
    ).set_axis(pd.Index(table.lines))
    killed = int(np.count_nonzero(~ended))
    notes = [f"jobs that were killed or rejected, and did not end: {killed:,}"] if killed else []
    return Results(str(file), checked_jobs(jobs, file, _BATSIM_NAMES), None, tuple(notes))


def read_gavel(file: Path) -> Results:
    """A job that is printed again with the same time is one job."""
    jct_s: dict[str, float] = {}
    lines: dict[str, int] = {}
    for line, job, time_s in _gavel_jobs(file):
        if jct_s.setdefault(job, time_s) != time_s:
            raise BadInputError(
                f"job {job} has another time than on line {lines[job]}",
                allowed="one run of Gavel in a file",
                file=file,
                line=line,
            )
        lines.setdefault(job, line)
        if len(jct_s) > MOST_ROWS:
            raise BadInputError(
                "there are too many jobs", allowed=f"at most {MOST_ROWS:,}", file=file
            )
    if not jct_s:
        raise BadInputError(
            f"no job stands below a line {GAVEL_HEADING!r}",
            allowed="what Gavel prints at the end of a run",
            file=file,
        )
    jobs = pd.DataFrame({"job": list(jct_s), "jct_s": list(jct_s.values())})
    return Results(str(file), checked_jobs(jobs.set_axis(pd.Index(lines.values())), file))


def _gavel_jobs(file: Path) -> Iterator[tuple[int, str, float]]:
    """(line, job, time in s) of the lines that follow a heading."""
    inside = False
    for number, text in enumerate(text_lines(file), start=1):
        line = text.strip()
        found = _GAVEL_JOB.fullmatch(line)
        if inside and found:
            yield number, found[1], float(found[2])
        else:
            inside = line == GAVEL_HEADING


def text_lines(file: Path) -> Iterator[str]:
    """The lines of ``file``, one at a time. Raises BadInputError where it is no text."""
    try:
        with file.open(encoding="utf-8") as stream:
            while line := stream.readline(_LONGEST_LINE):
                yield line
    except OSError as error:
        raise BadInputError(
            f"cannot be read: {error.strerror}", allowed="a readable file", file=file
        ) from None
    except UnicodeDecodeError:
        raise BadInputError(
            "is neither Parquet nor UTF-8 text", allowed="a file of one of these kinds", file=file
        ) from None


def _from_second_line(jobs: pd.DataFrame) -> pd.DataFrame:
    """Below a line of names."""
    return jobs.set_axis(pd.RangeIndex(2, len(jobs) + 2))
