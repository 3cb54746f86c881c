"""What records of clusters have in common: how they are cleaned, and when they begin.

A record says of each job when it was submitted, started and ended, and what it asked for: a log, an
accounting, an export.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from traces.formats.instants import instant_text
from traces.trace_format import Cleaning, CleaningRule

DROP_NEVER_STARTED = CleaningRule("drop-never-started", "it has no time at which it started")
DROP_UNFINISHED = CleaningRule(
    "drop-unfinished", "it has no time at which it ended; it was still running, mostly"
)
DROP_WITHOUT_GPUS = CleaningRule("drop-without-gpus", "it asked for no GPUs")
DROP_ZERO_DURATION = CleaningRule(
    "drop-zero-duration", "it ran for 0 s, which a cluster cannot be asked to do again"
)
DROP_NEGATIVE_DURATION = CleaningRule(
    "drop-negative-duration", "by the record it ended before it started"
)
CLEAR_NEGATIVE_QUEUE = CleaningRule(
    "clear-negative-queue", "by the record it started before it was submitted: no wait is known"
)
RULES = (
    DROP_WITHOUT_GPUS,
    DROP_ZERO_DURATION,
    DROP_NEGATIVE_DURATION,
    CLEAR_NEGATIVE_QUEUE,
)
"""Those of :func:`cleaned`, in their order."""


def cleaned(jobs: pd.DataFrame, cleaning: Cleaning) -> pd.DataFrame:
    """``jobs`` after RULES, in this order. Columns: ``num_gpus``, ``duration_s``, ``queue_s``."""
    for rule, column, wrong in (
        (DROP_WITHOUT_GPUS, "num_gpus", np.equal),
        (DROP_ZERO_DURATION, "duration_s", np.equal),
        (DROP_NEGATIVE_DURATION, "duration_s", np.less),
    ):
        jobs = cleaning.leave_out(jobs, wrong(jobs[column].to_numpy(), 0), rule)
    return without_negative_queue(jobs, cleaning)


def without_negative_queue(jobs: pd.DataFrame, cleaning: Cleaning) -> pd.DataFrame:
    """``jobs`` after CLEAR_NEGATIVE_QUEUE."""
    negative = jobs["queue_s"].to_numpy() < 0
    return cleaning.change(jobs, negative, "queue_s", np.nan, CLEAR_NEGATIVE_QUEUE)


def from_the_earliest(jobs: pd.DataFrame, *, is_utc: bool) -> tuple[pd.DataFrame, str | None]:
    """``jobs`` with ``submit_s`` from the earliest of them, and that instant as instant_text.

    submit_s: seconds from 1970, in UTC or on a clock whose zone is not known; NaN where there is
        none.
    """
    earliest_s = jobs["submit_s"].min()
    began = instant_text(earliest_s, is_utc=is_utc)
    return jobs.assign(submit_s=jobs["submit_s"] - earliest_s), began
