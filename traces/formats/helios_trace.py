"""SenseTime's Helios clusters: ``cluster_log.csv`` of S-Lab-System-Group/HeliosData (SC'21).

Slurm's log of a cluster, April to September 2020. ``duration`` and ``queue`` are the seconds from
start to end and from submission to start; the times themselves are not read, nor is ``node_num``.
The log that comes with Lucid's simulator is one of these with fewer columns, and is read too.

Times have no zone. The state ``SUSPENDED`` stands once in Uranus' log, and the authors leave that
job out (README, note 2); their analysis and their simulators take jobs with GPUs only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from traces.formats import recorded_jobs
from traces.formats.csv_table import header_names, read_named_columns
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, CleaningRule, Head, ReadOptions, TraceFormat

COLUMNS = ("job_id", "user", "vc", "gpu_num", "cpu_num", "state", "submit_time", "duration")
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"

SUSPENDED = "SUSPENDED"
DROP_SUSPENDED = CleaningRule("drop-suspended", "its last state is SUSPENDED, which is no end")
RULES = (DROP_SUSPENDED, *recorded_jobs.RULES)

_QUEUE = "queue"
_DEFAULT = ReadOptions()


def read_helios_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    cleaning = Cleaning(RULES, options)
    table = read_named_columns(file, COLUMNS, (_QUEUE,), share=options.share)
    submitted = pd.to_datetime(table.words("submit_time"), format=TIME_FORMAT, errors="coerce")
    table.refuse(submitted.isna().to_numpy(), "submit_time", "a time such as '2020-06-09 18:41:01'")
    suspended = (SUSPENDED,) if cleaning.applies(DROP_SUSPENDED.name) else ()
    duration_s = table.numbers("duration")
    jobs = pd.DataFrame(
        {
            "job": table.words("job_id"),
            "num_gpus": table.numbers("gpu_num"),
            "duration_s": duration_s,
            "executed_s": duration_s,
            "queue_s": table.numbers(_QUEUE) if _QUEUE in table.rows.columns else np.nan,
            "user": table.words_or_none("user"),
            "virtual_cluster": table.words_or_none("vc"),
            "cpus": table.numbers_or_nan("cpu_num"),
            "state": recorded_jobs.states(table, recorded_jobs.STATES, suspended),
            "line": table.lines,
        }
    )
    kept = cleaning.leave_out(
        jobs, (jobs["state"] == SUSPENDED).to_numpy(dtype=bool), DROP_SUSPENDED.name
    )
    kept = recorded_jobs.cleaned(kept, cleaning)
    kept, began = recorded_jobs.with_submissions(kept, submitted)
    return checked_trace(
        kept,
        source=table.source,
        format=FORMAT.name,
        file=file,
        read=len(jobs),
        notes=table.notes,
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        began=began,
        share=options.share,
        names={
            "job": "job_id",
            "submit_s": "submit_time",
            "num_gpus": "gpu_num",
            "duration_s": "duration",
            "cpus": "cpu_num",
            "queue_s": _QUEUE,
        },
    )


def _is_helios(head: Head) -> bool:
    return set(COLUMNS) <= set(header_names(head.first_line))


FORMAT = TraceFormat(
    name="helios",
    title="SenseTime's Helios clusters (CSV)",
    read=read_helios_trace,
    is_format=_is_helios,
    rules=RULES,
)
