"""Slurm's accounting, as ``sacct -p`` or ``sacct -P`` print it: fields between ``|``, with names.

Needed are the fields JobID, State, Submit, Start, Elapsed or ElapsedRaw, and AllocTRES or ReqTRES
(which name GPUs only where AccountingStorageTRES does); of use are User, Partition, Restarts,
AllocCPUS, NCPUS, ReqCPUS, ReqMem and NNodes. For example::

    sacct -a -X -D -P -S 2024-01-01 -o JobID,User,Partition,State,Submit,Start,ElapsedRaw,\\
    AllocTRES,ReqTRES,ReqMem,NNodes,Restarts

What a job was given counts (AllocTRES, AllocCPUS), for it ran with that; else what it asked for.
The virtual cluster is the partition. A job that still ran has the run time until then, and a note
says how many did. A row such as ``12_[4-9]``, tasks of an array that wait, counts once.

A job that was requeued has with ``sacct -D`` a row for each attempt, and Slurm resets the time of
its submission. They are one job here: submitted with the first of them, ``duration_s`` that of the
last attempt, ``executed_s`` of all. Without ``-D`` only the last attempt is known. Rows of jobs to
which a cluster gave the same id, after it began to count anew, would be taken for attempts of one.

Times are on the cluster's clock without a zone; in UTC where SLURM_TIME_FORMAT was ``%s`` or a
format with an offset. Slurm quotes nothing: a name that has ``|`` in it breaks its row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats import recorded_jobs
from traces.formats.csv_table import CsvTable, header_names, numbers_in, read_named_columns
from traces.formats.instants import dated, iso_seconds
from traces.formats.recorded_jobs import DROP_NEVER_STARTED
from traces.formats.slurm_fields import (
    NO_TIME,
    Memory,
    Resources,
    each_parsed,
    elapsed_s,
    first_known,
    memory,
    resources,
)
from traces.formats.slurm_states import states
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, CleaningRule, Head, ReadOptions, TraceFormat

REQUIRED = ("JobID", "State", "Submit", "Start")
ELAPSED = ("ElapsedRaw", "Elapsed")
TRES = ("AllocTRES", "ReqTRES")
OPTIONAL = ("User", "Partition", "Restarts", "AllocCPUS", "NCPUS", "ReqCPUS", "ReqMem", "NNodes")

DROP_STEPS = CleaningRule("drop-steps", "it is a step of a job, such as 12.batch")
MERGE_REQUEUED = CleaningRule(
    "merge-requeued", "it is another attempt of a requeued job, which counts once"
)
RULES = (DROP_STEPS, MERGE_REQUEUED, DROP_NEVER_STARTED, *recorded_jobs.RULES)

_SEPARATOR = "|"
_DEFAULT = ReadOptions()


def read_slurm(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and column."""
    cleaning = Cleaning(RULES, options)
    table = read_named_columns(
        file,
        REQUIRED,
        (*ELAPSED, *TRES, *OPTIONAL),
        separator=_SEPARATOR,
        share=options.share,
        quotes_are_text=True,
    )
    fields = _Fields(table)
    for alternatives in (ELAPSED, TRES):
        fields.refuse_without(alternatives)
    read = len(table.rows)
    is_step = table.rows["JobID"].str.contains(".", regex=False).to_numpy(dtype=bool)
    fields = _Fields(replace(table, rows=cleaning.leave_out(table.rows, is_step, DROP_STEPS)))
    jobs, is_utc = fields.attempts()
    kept = _merged(jobs, cleaning)
    kept = cleaning.leave_out(kept, kept["start_s"].isna().to_numpy(), DROP_NEVER_STARTED)
    kept = kept.assign(queue_s=kept["start_s"] - kept["submit_s"])
    kept = recorded_jobs.cleaned(kept, cleaning)
    kept, began = recorded_jobs.from_the_earliest(kept, is_utc=is_utc)
    running = int((kept["state"] == "running").sum())
    notes = [*table.notes]
    if running:
        notes.append(f"jobs that had not ended, with their run times until then: {running:,}")
    return checked_trace(
        kept.drop(columns="start_s"),
        source=table.source,
        format=FORMAT.name,
        file=file,
        read=read,
        notes=tuple(notes),
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        began=began,
        share=options.share,
        names={
            "job": "JobID",
            "submit_s": "Submit",
            "num_gpus": fields.first_of(TRES),
            "duration_s": fields.first_of(ELAPSED),
            "queue_s": "Start",
            "memory_bytes": "ReqMem",
            "attempts": "Restarts",
        },
    )


def _merged(attempts: pd.DataFrame, cleaning: Cleaning) -> pd.DataFrame:
    """``attempts`` with one row for each job: its last that started, with what all of them say."""
    is_repeated = attempts["job"].duplicated(keep=False).to_numpy(dtype=bool)
    if not cleaning.applies(MERGE_REQUEUED) or not is_repeated.any():
        return attempts
    repeated = attempts[is_repeated]
    started = repeated["start_s"].notna()
    in_order = repeated.assign(started=started).sort_values(["started", "submit_s"], kind="stable")
    last = in_order.drop_duplicates("job", keep="last")
    of_job = repeated.assign(started=started.astype(float)).groupby("job")
    together = pd.DataFrame(
        {
            "submit_s": of_job["submit_s"].min(),
            "start_s": of_job["start_s"].min(),
            "executed_s": of_job["executed_s"].sum(),
            "attempts": np.fmax(of_job["started"].sum(), of_job["attempts"].max()),
        }
    )
    merged = attempts.copy()
    merged.loc[last.index, list(together)] = together.loc[last["job"]].to_numpy()
    is_other = is_repeated & ~merged.index.isin(last.index)
    return cleaning.leave_out(merged, is_other, MERGE_REQUEUED)


@dataclass(frozen=True)
class _Fields:
    """The fields of rows of ``table``. All raise BadInputError with line and field."""

    table: CsvTable

    def refuse_without(self, alternatives: tuple[str, ...]) -> None:
        if not any(name in self.table.rows for name in alternatives):
            raise BadInputError(
                f"the first line has neither column {' nor '.join(map(repr, alternatives))}",
                allowed="sacct -o with one of them",
                file=self.table.file,
                line=1,
            )

    def first_of(self, names: tuple[str, ...]) -> str:
        return next(name for name in names if name in self.table.rows)

    def attempts(self) -> tuple[pd.DataFrame, bool]:
        """The attempts that the rows are, and whether their times are in UTC.

        Columns: those of a trace, ``submit_s`` from 1970, and ``start_s``, NaN if it did not start.
        """
        submit_s, is_utc = self._instants("Submit")
        self.table.refuse(np.isnan(submit_s), "Submit", "the time of the submission")
        start_s, start_is_utc = self._instants("Start")
        if start_is_utc != is_utc:
            self.table.refuse(~np.isnan(start_s), "Start", "a time of the same kind as Submit")
        elapsed = self._elapsed_s()
        given, asked = (self._resources(name) for name in TRES)
        gpus = first_known(given["gpus"].to_numpy(), asked["gpus"].to_numpy())
        cpus = self._cpus(given["cpus"].to_numpy(), asked["cpus"].to_numpy())
        memory_bytes = first_known(
            given["memory_bytes"].to_numpy(),
            asked["memory_bytes"].to_numpy(),
            self._required_memory_bytes(cpus),
        )
        jobs = pd.DataFrame(
            {
                "job": self.table.words("JobID"),
                "submit_s": submit_s,
                "start_s": start_s,
                "num_gpus": np.nan_to_num(gpus),
                "duration_s": elapsed,
                "executed_s": elapsed,
                "gpu_type": given["gpu_type"].fillna(asked["gpu_type"]),
                "cpus": cpus,
                "memory_bytes": memory_bytes,
                "state": states(self.table, "State"),
                "attempts": self._numbers("Restarts") + ~np.isnan(start_s),
                "line": self.table.lines,
            }
        )
        for column, field in (("user", "User"), ("virtual_cluster", "Partition")):
            if field in self.table.rows:
                jobs[column] = self.table.words_or_none(field)
        return jobs, is_utc

    def _instants(self, field: str) -> tuple[NDArray[np.float64], bool]:
        """Seconds from 1970, NaN where there is no time; and whether they are in UTC."""
        texts = self.table.rows[field].str.strip().reset_index(drop=True)
        texts = texts.mask(texts.isin(list(NO_TIME)))
        known = texts.notna().to_numpy(dtype=bool)
        if known.any() and texts[known].str.fullmatch("[0-9]+").all():
            seconds, has_offset = dated(numbers_in(texts)), known
        else:
            seconds, has_offset = iso_seconds(texts)
        self.table.refuse(known & np.isnan(seconds), field, "a time such as 2024-01-31T12:00:00")
        if has_offset.any():
            self.table.refuse(known & ~has_offset, field, "an offset, as other rows have")
        return seconds, bool(has_offset.any())

    def _elapsed_s(self) -> NDArray[np.float64]:
        field = self.first_of(ELAPSED)
        if field == "ElapsedRaw":
            return self.table.numbers(field)
        places, values = each_parsed(self.table.words(field), elapsed_s)
        seconds = np.array(values, dtype="float64")[places]
        self.table.refuse(np.isnan(seconds), field, "[[days-]hours:]minutes:seconds")
        return seconds

    def _resources(self, field: str) -> pd.DataFrame:
        """One row for each: the columns of Resources."""
        found: list[Resources | None] = [Resources()]
        places = np.zeros(len(self.table.rows), dtype=np.int64)
        if field in self.table.rows:
            places, found = each_parsed(self.table.rows[field].str.strip(), resources)
        wrong = np.array([each is None for each in found], dtype=bool)[places]
        self.table.refuse(wrong, field, "resources such as cpu=8,gres/gpu=2,mem=64G")
        different = pd.DataFrame(found, columns=Resources._fields).astype({"gpu_type": "string"})
        return different.iloc[places].reset_index(drop=True)

    def _cpus(self, given: NDArray[np.float64], asked: NDArray[np.float64]) -> NDArray[np.float64]:
        allocated = self._numbers("AllocCPUS"), self._numbers("NCPUS")
        return first_known(given, *allocated, asked, self._numbers("ReqCPUS"))

    def _numbers(self, field: str) -> NDArray[np.float64]:
        if field not in self.table.rows:
            return np.full(len(self.table.rows), np.nan)
        return self.table.numbers_or_nan(field)

    def _required_memory_bytes(self, cpus: NDArray[np.float64]) -> NDArray[np.float64]:
        """ReqMem of the whole job, NaN where that cannot be told."""
        if "ReqMem" not in self.table.rows:
            return np.full(len(cpus), np.nan)
        texts = self.table.rows["ReqMem"].str.strip()
        places, found = each_parsed(
            texts, lambda text: memory(text) if text else Memory(np.nan, "")
        )
        wrong = np.array([each is None for each in found], dtype=bool)[places]
        self.table.refuse(wrong, "ReqMem", "an amount such as 16G, 4Gc or 4Gn")
        of = np.array([each.of if each else "" for each in found])[places]
        parts = np.select([of == "n", of == "c"], [self._numbers("NNodes"), cpus], 1.0)
        return np.array([each.bytes if each else np.nan for each in found])[places] * parts


def _is_sacct(head: Head) -> bool:
    names = header_names(head.first_line, _SEPARATOR)
    return len(names) > 1 and "JobID" in names


FORMAT = TraceFormat(
    name="slurm",
    title="Slurm's accounting (sacct -p or -P)",
    read=read_slurm,
    is_format=_is_sacct,
    rules=RULES,
)
