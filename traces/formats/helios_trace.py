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
from traces.formats.instants import CLOCK_TIME, clock_seconds
from traces.formats.slurm_states import states
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, CleaningRule, Head, ReadOptions, TraceFormat

COLUMNS = ("job_id", "user", "vc", "gpu_num", "cpu_num", "state", "submit_time", "duration")

DROP_SUSPENDED = CleaningRule("drop-suspended", "its last state is SUSPENDED, which is no end")
RULES = (DROP_SUSPENDED, *recorded_jobs.RULES)

_QUEUE = "queue"
_DEFAULT = ReadOptions()


def read_helios_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    cleaning = Cleaning(RULES, options)
    table = read_named_columns(file, COLUMNS, (_QUEUE,), share=options.share)
    submit_s = clock_seconds(table.words("submit_time"))
    table.refuse(np.isnan(submit_s), "submit_time", CLOCK_TIME)
    duration_s = table.numbers("duration")
    jobs = pd.DataFrame(
        {
            "job": table.words("job_id"),
            "submit_s": submit_s,
            "num_gpus": table.numbers("gpu_num"),
            "duration_s": duration_s,
            "executed_s": duration_s,
            "queue_s": table.numbers(_QUEUE) if _QUEUE in table.rows.columns else np.nan,
            "user": table.words_or_none("user"),
            "virtual_cluster": table.words_or_none("vc"),
            "cpus": table.numbers_or_nan("cpu_num"),
            "state": states(table, "state"),
            "line": table.lines,
        }
    )
    suspended = (table.words("state") == "SUSPENDED").to_numpy(dtype=bool)
    kept = cleaning.leave_out(jobs, suspended, DROP_SUSPENDED)
    kept = recorded_jobs.cleaned(kept, cleaning)
    kept, began = recorded_jobs.from_the_earliest(kept, is_utc=False)
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
