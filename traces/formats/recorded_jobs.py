"""What logs of clusters that ran under Slurm have in common: how jobs ended, and what is cleaned.

A log has a row for each job, with the times at which it was submitted, started and ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from traces.formats.csv_table import CsvTable
from traces.trace_format import Cleaning, CleaningRule

STATES = {
    "COMPLETED": "completed",
    "CANCELLED": "cancelled",
    "FAILED": "failed",
    "TIMEOUT": "timeout",
    "NODE_FAIL": "node-failure",
}
"""Slurm's words for how a job ended, in those of a trace."""

DROP_WITHOUT_GPUS = CleaningRule("drop-without-gpus", "it asked for no GPUs")
DROP_ZERO_DURATION = CleaningRule(
    "drop-zero-duration", "it ran for 0 s, which a cluster cannot be asked to do again"
)
DROP_NEGATIVE_DURATION = CleaningRule(
    "drop-negative-duration", "by the log it ended before it started"
)
CLEAR_NEGATIVE_QUEUE = CleaningRule(
    "clear-negative-queue", "by the log it started before it was submitted: its wait is not known"
)
RULES = (
    DROP_WITHOUT_GPUS,
    DROP_ZERO_DURATION,
    DROP_NEGATIVE_DURATION,
    CLEAR_NEGATIVE_QUEUE,
)


def states(table: CsvTable, known: Mapping[str, str], besides: Iterable[str] = ()) -> pd.Series:
    """The column ``state`` in the words of a trace; those ``besides`` as they are.

    Raises BadInputError with the line of another one.
    """
    allowed = {**known, **{word: word for word in besides}}
    words = table.words("state")
    table.refuse(~words.isin(list(allowed)).to_numpy(dtype=bool), "state", ", ".join(allowed))
    return words.map(allowed).astype("string")


def cleaned(jobs: pd.DataFrame, cleaning: Cleaning) -> pd.DataFrame:
    """``jobs`` after RULES, in this order. Columns: ``num_gpus``, ``duration_s``, ``queue_s``."""
    for rule, column, wrong in (
        (DROP_WITHOUT_GPUS, "num_gpus", np.equal),
        (DROP_ZERO_DURATION, "duration_s", np.equal),
        (DROP_NEGATIVE_DURATION, "duration_s", np.less),
    ):
        jobs = cleaning.leave_out(jobs, wrong(jobs[column].to_numpy(), 0), rule.name)
    negative = jobs["queue_s"].to_numpy() < 0
    return cleaning.change(jobs, negative, "queue_s", np.nan, CLEAR_NEGATIVE_QUEUE.name)


def with_submissions(jobs: pd.DataFrame, submitted: pd.Series) -> tuple[pd.DataFrame, str | None]:
    """``jobs`` with ``submit_s`` from the earliest of them, and that instant in ISO 8601.

    submitted: instants, by the index of jobs.
    """
    times = submitted[jobs.index]
    earliest = times.min()
    began = None if pd.isna(earliest) else earliest.isoformat()
    return jobs.assign(submit_s=(times - earliest).dt.total_seconds()), began
