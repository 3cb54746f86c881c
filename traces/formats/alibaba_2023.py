"""Alibaba's pods of 2023 (alibaba/clusterdata, ``cluster-trace-gpu-v2023/csv/openb_pod_list_*``).

A pod asks for ``num_gpu`` GPUs, and where that is one for ``gpu_milli`` thousandths of it. It waits
from its creation until it is scheduled, and runs until it is deleted; one that never was scheduled
has no such time. Its phase is the last that was seen. ``gpu_spec`` lists the types of GPU that it
can use, with ``|`` between them. Times are in s from a beginning that is not told.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from traces.formats import recorded_jobs
from traces.formats.alibaba_rules import DROP_UNFINISHED, ROUND_UP_GPUS, with_whole_gpus
from traces.formats.csv_table import CsvTable, header_names, read_named_columns
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, ReadOptions, TraceFormat

COLUMNS = (
    "name",
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "pod_phase",
    "creation_time",
    "deletion_time",
    "scheduled_time",
)
STATES = {
    "Succeeded": "completed",
    "Failed": "failed",
    "Running": "running",
    "Pending": "running",
}
RULES = (DROP_UNFINISHED, *recorded_jobs.RULES, ROUND_UP_GPUS)

_MILLI = 1000.0
_DEFAULT = ReadOptions()


def read_alibaba_2023(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The pods of ``file`` as jobs. Raises BadInputError with line and column."""
    cleaning = Cleaning(RULES, options)
    table = read_named_columns(file, COLUMNS, share=options.share)
    pods = _pods(table)
    unfinished = pods[["created_s", "duration_s"]].isna().any(axis=1).to_numpy()
    jobs = cleaning.leave_out(pods, unfinished, DROP_UNFINISHED)
    jobs = with_whole_gpus(recorded_jobs.cleaned(jobs, cleaning), cleaning)
    submit_s = jobs["created_s"] - jobs["created_s"].min()
    return checked_trace(
        jobs.assign(submit_s=submit_s).drop(columns="created_s"),
        source=table.source,
        format=FORMAT.name,
        file=file,
        read=len(pods),
        notes=table.notes,
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        share=options.share,
        names={
            "job": "name",
            "submit_s": "creation_time",
            "num_gpus": "gpu_milli",
            "cpus": "cpu_milli",
            "memory_bytes": "memory_mib",
            "duration_s": "deletion_time",
            "executed_s": "deletion_time",
            "queue_s": "scheduled_time",
        },
    )


def _pods(table: CsvTable) -> pd.DataFrame:
    phase = table.words("pod_phase")
    table.refuse(~phase.isin(list(STATES)).to_numpy(), "pod_phase", ", ".join(STATES))
    num_gpu = table.numbers("num_gpu")
    whole = (num_gpu >= 0) & (num_gpu == np.floor(num_gpu))
    table.refuse(~whole, "num_gpu", "a whole number of 0 or more")
    gpu_milli = table.numbers("gpu_milli")
    least = (gpu_milli > 0) | ((gpu_milli == 0) & (num_gpu == 0))
    table.refuse(~least, "gpu_milli", "a number above 0, or 0 where num_gpu is 0")
    created_s = table.numbers_or_nan("creation_time")
    scheduled_s = table.numbers_or_nan("scheduled_time")
    duration_s = table.numbers_or_nan("deletion_time") - scheduled_s
    return pd.DataFrame(
        {
            "job": table.words("name"),
            "num_gpus": num_gpu * gpu_milli / _MILLI,
            "gpu_type": table.words_or_none("gpu_spec"),
            "cpus": table.numbers("cpu_milli") / _MILLI,
            "memory_bytes": table.numbers("memory_mib") * 2**20,
            "state": phase.map(STATES).astype("string"),
            "created_s": created_s,
            "queue_s": scheduled_s - created_s,
            "duration_s": duration_s,
            "executed_s": duration_s,
            "line": table.lines,
        }
    )


FORMAT = TraceFormat(
    name="alibaba-2023",
    title="Alibaba's pods of 2023, a list of openb (CSV)",
    read=read_alibaba_2023,
    is_format=lambda head: set(COLUMNS) <= set(header_names(head.first_line)),
    rules=RULES,
)
