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

from traces.formats import recorded_jobs
from traces.formats.csv_table import CsvTable, header_names, read_named_columns
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, CleaningRule, Head, ReadOptions, TraceFormat

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
STATES = {**recorded_jobs.STATES, "RUNNING": "running"}

DROP_NEVER_STARTED = CleaningRule("drop-never-started", "it has no start_time")
DROP_UNFINISHED = CleaningRule("drop-unfinished", "it has no end_time: its run time is not known")
RULES = (DROP_NEVER_STARTED, DROP_UNFINISHED, *recorded_jobs.RULES)

_ISO_WITH_ZONE = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)"
_BYTES_PER_GB = 1e9
_DEFAULT = ReadOptions()


def read_acme_trace(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    cleaning = Cleaning(RULES, options)
    table = read_named_columns(file, COLUMNS, (KALOS_MEMORY,), share=options.share)
    submitted = _instants(table, "submit_time")
    table.refuse(submitted.isna().to_numpy(), "submit_time", "a time with a zone")
    started, ended = _instants(table, "start_time"), _instants(table, "end_time")
    run_s = (ended - started).dt.total_seconds().to_numpy()
    jobs = pd.DataFrame(
        {
            "job": table.words("job_id"),
            "num_gpus": table.numbers("gpu_num"),
            "duration_s": run_s,
            "executed_s": run_s,
            "queue_s": (started - submitted).dt.total_seconds(),
            "user": table.words_or_none("user"),
            "cpus": table.numbers_or_nan("cpu_num"),
            "state": recorded_jobs.states(table, STATES),
            "line": table.lines,
        }
    )
    if KALOS_MEMORY in table.rows.columns:
        pods = table.numbers_or_nan("node_num")
        jobs["memory_bytes"] = table.numbers_or_nan(KALOS_MEMORY) * pods * _BYTES_PER_GB
    kept = cleaning.leave_out(jobs, started.isna().to_numpy(), DROP_NEVER_STARTED.name)
    kept = cleaning.leave_out(kept, ended[kept.index].isna().to_numpy(), DROP_UNFINISHED.name)
    kept = recorded_jobs.cleaned(kept, cleaning)
    kept, began = recorded_jobs.with_submissions(kept, submitted)
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


def _instants(table: CsvTable, column: str) -> pd.Series:
    """Times in UTC, NaT where a field is empty. BadInputError where one is no time with a zone."""
    texts = table.words_or_none(column)
    with_zone = texts.where(texts.str.fullmatch(_ISO_WITH_ZONE).fillna(value=False))
    times = pd.to_datetime(with_zone, format="ISO8601", utc=True, errors="coerce")
    wrong = texts.notna() & times.isna()
    table.refuse(
        wrong.to_numpy(dtype=bool), column, "a time such as '2023-03-01 00:18:22+08:00', or nothing"
    )
    return times


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
