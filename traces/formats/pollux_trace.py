"""Workloads of Pollux' simulator (petuum/adaptdl, branch osdi21-artifact) and of Sia's as traces.

A workload says what a job trains and with which batch, but neither for how long nor in how many
iterations: a job ends with its application's training, and the authors measured these trainings.
They lie beside the workloads in their artifacts, as ``traces/APPLICATION/validation-BATCH.csv``,
and a job's iterations are those of the training with its batch, as ElasticFlow's traces of the same
applications have them. A workload without these files is refused, as is a batch of which no
training was measured: nothing is interpolated. How long an iteration takes depends on the placement
and is not read.

The application is the model. Submissions are kept as given: whole seconds for Pollux, fractions for
Sia. A trace has the GPUs and the batch that a user would ask for; Pollux and Sia choose others.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats.csv_table import CsvTable, is_header, read_csv_table
from traces.formats.pollux_files import WORKLOAD_COLUMNS, read_validation, workload_jobs
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import ReadOptions, TraceFormat

TRAININGS = "traces"
MOST_FOLDERS_UP = 3  # Pollux: workloads/FILE; Sia: workloads/KIND/FILE

_VALIDATION = re.compile(r"validation-([1-9]\d{0,9})\.csv")
_DEFAULT = ReadOptions()


def read_pollux_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``, their iterations from the trainings near it.

    Raises BadInputError with line and column, and where there are no trainings.
    """
    table = read_csv_table(file, WORKLOAD_COLUMNS, has_header=True, share=options.share)
    jobs = workload_jobs(table).assign(line=table.lines)
    jobs["iterations"] = _iterations(jobs, table, _trainings(file))
    return checked_trace(
        jobs.rename(columns={"application": "model"}).drop(columns="batch"),
        source=table.source,
        format=FORMAT.name,
        share=options.share,
        file=file,
        notes=(
            *table.notes,
            f"iterations are those measured in {TRAININGS}/APPLICATION/validation-BATCH.csv",
        ),
        names={
            "job": "name",
            "submit_s": "time",
            "model": "application",
            "num_gpus": "num_replicas",
        },
    )


def _trainings(file: Path) -> Path:
    for folder in list(file.absolute().parents)[:MOST_FOLDERS_UP]:
        if (folder / TRAININGS).is_dir():
            return folder / TRAININGS
    raise BadInputError(
        "how many iterations its jobs take is not in the file, and no measured trainings are near",
        allowed=f"a workload in the artifact that it came with, or beside a copy of its folder "
        f"{TRAININGS} (APPLICATION/validation-BATCH.csv)",
        file=file,
    )


def _iterations(jobs: pd.DataFrame, table: CsvTable, trainings: Path) -> NDArray[np.float64]:
    """Of each job those of the training of its application with its batch."""
    applications, batches = jobs["application"].to_numpy(), jobs["batch"].to_numpy()
    iterations = np.zeros(len(jobs))
    for application, batch in dict.fromkeys(zip(applications, batches, strict=True)):
        alike = (applications == application) & (batches == batch)
        folder = trainings / application
        is_name = application not in (".", "..") and "/" not in application
        measured = _batches(folder) if is_name else []
        if not measured:
            table.refuse(alike, "application", f"one with measured trainings in {trainings}")
        if batch not in measured:
            table.refuse(alike, "batch_size", ", ".join(map(str, measured)))
        epochs = read_validation(folder / f"validation-{batch}.csv")
        iterations[alike] = epochs["iterations"].to_numpy()[-1]
    return iterations


def _batches(folder: Path) -> list[int]:
    """With which there are measured trainings in ``folder``."""
    try:
        names = [_VALIDATION.fullmatch(each.name) for each in folder.iterdir()]
    except OSError:
        return []
    return sorted(int(name[1]) for name in names if name)


FORMAT = TraceFormat(
    name="pollux",
    title="workloads of Pollux' and Sia's simulators (CSV, beside their measured trainings)",
    read=read_pollux_trace,
    is_format=lambda head: is_header(head.first_line, WORKLOAD_COLUMNS),
)
