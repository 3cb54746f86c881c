"""Shanghai AI Laboratory's Acme clusters: ``trace_seren.csv`` and ``trace_kalos.csv`` of
InternLM/AcmeTrace (NSDI'24).

Times are in ISO 8601 with a zone: Seren's in that of Shanghai, Kalos' in UTC. A job's run time here
is ``end_time`` - ``start_time``, and its wait ``start_time`` - ``submit_time``. The README says the
same of the column ``duration``, but Kalos' durations are counted from the submission, also those in
that README; a note says for how many jobs they differ. Jobs that never started, or had not ended
when the log was taken, have empty times.

Kalos has the memory of a pod, in GB; a job's memory is taken as that of ``node_num`` pods. ``type``
(Pretrain, SFT, Eval, ...) is no model, and is not read. The authors' analysis takes jobs with GPUs
only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.formats import recorded_jobs
from traces.formats.csv_table import CsvTable, header_names, read_named_columns
from traces.formats.instants import iso_seconds
from traces.formats.recorded_jobs import DROP_NEVER_STARTED, DROP_UNFINISHED
from traces.formats.slurm_states import states
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, Head, ReadOptions, TraceFormat

COLUMNS = (
    "job_id",
    "user",
    "node_num",
    "gpu_num",
    "cpu_num",
    "state",
    "submit_time",
    "start_time",
    "end_time",
    "duration",
)
KALOS_MEMORY = "mem_per_pod_GB"
RULES = (DROP_NEVER_STARTED, DROP_UNFINISHED, *recorded_jobs.RULES)

_TIME = "a time such as '2023-03-01 00:18:22+08:00'"
_BYTES_PER_GB = 1e9
_DEFAULT = ReadOptions()


def read_acme_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    cleaning = Cleaning(RULES, options)
    table = read_named_columns(file, COLUMNS, (KALOS_MEMORY,), share=options.share)
    submit_s = _instants_s(table, "submit_time")
    table.refuse(np.isnan(submit_s), "submit_time", _TIME)
    start_s, end_s = _instants_s(table, "start_time"), _instants_s(table, "end_time")
    run_s = end_s - start_s
    jobs = pd.DataFrame(
        {
            "job": table.words("job_id"),
            "submit_s": submit_s,
            "num_gpus": table.numbers("gpu_num"),
            "duration_s": run_s,
            "executed_s": run_s,
            "queue_s": start_s - submit_s,
            "user": table.words_or_none("user"),
            "cpus": table.numbers_or_nan("cpu_num"),
            "state": states(table, "state"),
            "line": table.lines,
        }
    )
    if KALOS_MEMORY in table.rows.columns:
        pods = table.numbers_or_nan("node_num")
        jobs["memory_bytes"] = table.numbers_or_nan(KALOS_MEMORY) * pods * _BYTES_PER_GB
    kept = cleaning.leave_out(jobs, np.isnan(start_s), DROP_NEVER_STARTED)
    kept = cleaning.leave_out(kept, np.isnan(end_s[kept.index]), DROP_UNFINISHED)
    kept = recorded_jobs.cleaned(kept, cleaning)
    kept, began = recorded_jobs.from_the_earliest(kept, is_utc=True)
    return checked_trace(
        kept,
        source=table.source,
        format=FORMAT.name,
        file=file,
        read=len(jobs),
        notes=(*table.notes, *_note_on_durations(kept, table)),
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        began=began,
        share=options.share,
        names={
            "job": "job_id",
            "submit_s": "submit_time",
            "num_gpus": "gpu_num",
            "duration_s": "end_time - start_time",
            "queue_s": "start_time - submit_time",
            "cpus": "cpu_num",
            "memory_bytes": KALOS_MEMORY,
        },
    )


def _instants_s(table: CsvTable, column: str) -> NDArray[np.float64]:
    """Seconds from 1970 in UTC, NaN where a field is empty.

    Raises BadInputError where one is no time with a zone.
    """
    texts = table.words_or_none(column)
    seconds, has_offset = iso_seconds(texts)
    wrong = texts.notna().to_numpy(dtype=bool) & (np.isnan(seconds) | ~has_offset)
    table.refuse(wrong, column, f"{_TIME}, or nothing")
    return seconds


def _note_on_durations(kept: pd.DataFrame, table: CsvTable) -> list[str]:
    stated_s = table.numbers_or_nan("duration")[kept.index]
    differ = int(np.count_nonzero(stated_s != kept["duration_s"].to_numpy()))
    if not differ:
        return []
    return [
        f"jobs whose duration is not end_time - start_time: {differ:,} of {len(kept):,}; "
        "the times are taken"
    ]


def _is_acme(head: Head) -> bool:
    return {*COLUMNS, "gpu_time"} <= set(header_names(head.first_line))


FORMAT = TraceFormat(
    name="acme",
    title="Shanghai AI Laboratory's Acme clusters, Seren and Kalos (CSV)",
    read=read_acme_trace,
    is_format=_is_acme,
    rules=RULES,
)
