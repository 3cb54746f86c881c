"""Microsoft's Philly cluster: the log of its jobs (msr-fiddle/philly-traces, ``cluster_job_log``).

117,325 jobs, 2017-08-07 to 12-22, a JSON array (see ``philly_log``). The log names neither models
nor what a job asked for: its GPUs are those that its last attempt had, and its duration is the sum
of its attempts' run times. Its times have no zone.

The rules are those of Synergy's simulator, in its order (msr-fiddle/synergy,
``simulator/helpers/parse_philly_trace_full.py``, with ``multigpu``, ``sum_attempts`` and
``exponential``): it passes over an attempt that cannot be used, and makes no job where that is the
last one. For the first three rules, ``left_out`` counts the jobs whose last attempt is such a one,
and ``changed`` those of the trace that lost an earlier one. A job without a GPU gets one by
``round-gpus-to-1``, as there; ``drop-without-gpus`` has work where that is off.

How long a job waited is the time from its submission to the start of its first attempt.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats.instants import since_epoch_s
from traces.formats.json_array import beginning_of, source_of
from traces.formats.philly_log import PhillyLog, read_philly_log
from traces.formats.recorded_jobs import CLEAR_NEGATIVE_QUEUE
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, CleaningRule, Head, ReadOptions, TraceFormat

MOST_GPUS = 16
USUAL_GPUS = (1, 2, 4, 8, 16)
SHORTEST_S = 60 * 10**1.5
LONGEST_S = 60 * 10.0**4

WITHOUT_ATTEMPTS = "drop-without-attempts"
WITHOUT_TIMES = "drop-without-times"
ABOVE_16_GPUS = "drop-above-16-gpus"
WITHOUT_DURATION = "drop-without-duration"
TO_ONE_GPU = "round-gpus-to-1"
WITHOUT_GPUS = "drop-without-gpus"
SHORT = "drop-short"
LONG = "drop-long"
RULES = (
    CleaningRule(WITHOUT_ATTEMPTS, "it was never started"),
    CleaningRule(
        WITHOUT_TIMES, "an attempt lacks its start or end; the last one was still running, mostly"
    ),
    CleaningRule(ABOVE_16_GPUS, "an attempt had more than 16 GPUs"),
    CleaningRule(WITHOUT_DURATION, "an attempt ended when it started, or before"),
    CleaningRule(TO_ONE_GPU, "a job of another number of GPUs than 1, 2, 4, 8 or 16 gets one"),
    CleaningRule(WITHOUT_GPUS, "it had no GPU"),
    CleaningRule(SHORT, "it ran for 10^1.5 minutes or less, over all attempts"),
    CleaningRule(LONG, "it ran for 10^4 minutes or more, over all attempts"),
    CLEAR_NEGATIVE_QUEUE,
)

_DEFAULT = ReadOptions()


def read_philly(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``, plain or packed with gzip. Raises BadInputError with line and key."""
    cleaning = Cleaning(RULES, options)
    log = read_philly_log(file, options.share)
    jobs = _with_run_times(log, cleaning)
    odd = ~jobs["num_gpus"].isin(USUAL_GPUS).to_numpy()
    jobs = cleaning.change(jobs, odd, "num_gpus", 1, TO_ONE_GPU)
    jobs = cleaning.leave_out(jobs, (jobs["num_gpus"] == 0).to_numpy(), WITHOUT_GPUS)
    jobs = cleaning.leave_out(jobs, (jobs["duration_s"] <= SHORTEST_S).to_numpy(), SHORT)
    jobs = cleaning.leave_out(jobs, (jobs["duration_s"] >= LONGEST_S).to_numpy(), LONG)
    earliest = jobs["submitted"].min()
    submit_s = (jobs["submitted"] - earliest).dt.total_seconds()
    started_before = (jobs["queue_s"] < 0).to_numpy()
    jobs = cleaning.change(jobs, started_before, "queue_s", np.nan, CLEAR_NEGATIVE_QUEUE.name)
    return checked_trace(
        jobs.assign(submit_s=submit_s).drop(columns="submitted"),
        source=source_of(file, options.share),
        format=FORMAT.name,
        file=file,
        read=len(log.jobs),
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        began=None if pd.isna(earliest) else earliest.isoformat(),
        share=options.share,
        names={
            "job": "jobid",
            "submit_s": "submitted_time",
            "num_gpus": "attempts[-1].detail",
            "duration_s": "attempts",
            "queue_s": "attempts[0].start_time",
        },
    )


def _with_run_times(log: PhillyLog, cleaning: Cleaning) -> pd.DataFrame:
    """The jobs whose last attempt counts, with the columns of a trace that follow from attempts."""
    none = (log.jobs["attempts"] == 0).to_numpy()
    jobs = cleaning.leave_out(log.jobs, none, WITHOUT_ATTEMPTS)
    _refuse_without_attempts(jobs, log.file)
    run_s = log.end_s - log.start_s
    last = log.first_attempt + log.jobs["attempts"].to_numpy() - 1
    counts = np.ones(len(run_s), dtype=bool)
    passed: dict[str, NDArray[np.bool_]] = {}
    for rule, unusable in (
        (WITHOUT_TIMES, np.isnan(run_s)),
        (ABOVE_16_GPUS, log.gpus > MOST_GPUS),
        (WITHOUT_DURATION, run_s <= 0),
    ):
        if cleaning.applies(rule):
            passed[rule] = counts & unusable
            counts &= ~unusable
            jobs = cleaning.leave_out(jobs, passed[rule][last[jobs.index]], rule)
    kept = np.isin(log.job_of, jobs.index)
    counts &= kept
    log.refuse(counts & np.isnan(run_s), "end_time", "no time there, or at the start", "both times")
    log.refuse(counts & (run_s < 0), "end_time", "an end before the start", "a later time")
    for rule, attempts in passed.items():
        changed = len(np.unique(log.job_of[attempts & kept]))
        if changed:
            cleaning.changed[rule] += changed

    seconds = np.bincount(log.job_of[counts], run_s[counts], minlength=len(log.jobs))[jobs.index]
    first_start = log.start_s[log.first_attempt[jobs.index]]
    return jobs.assign(
        num_gpus=log.gpus[last[jobs.index]],
        duration_s=seconds,
        executed_s=seconds,
        queue_s=first_start - since_epoch_s(jobs["submitted"]),
    )


def _refuse_without_attempts(jobs: pd.DataFrame, file: Path) -> None:
    none = jobs[jobs["attempts"] == 0]
    if not none.empty:
        raise BadInputError(
            f"job {none['job'].iat[0]!r} was never started",
            allowed=f"one attempt or more, or the rule {WITHOUT_ATTEMPTS}",
            file=file,
            line=int(none["line"].to_numpy()[0]),
            key=f"[{none.index[0]}].attempts",
        )


def _is_philly(head: Head) -> bool:
    text = beginning_of(head.data)
    return text.startswith("[") and '"jobid"' in text and '"attempts"' in text


FORMAT = TraceFormat(
    name="philly",
    title="Microsoft's Philly cluster, the log of its jobs (JSON, also packed with gzip)",
    read=read_philly,
    is_format=_is_philly,
    rules=RULES,
)
