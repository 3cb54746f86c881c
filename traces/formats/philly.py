"""Microsoft's Philly cluster: the log of its jobs (msr-fiddle/philly-traces, ``cluster_job_log``).

117,325 jobs, 2017-08-07 to 12-22, a JSON array (see ``philly_log``). The log names neither models
nor what a job asked for: its GPUs are those that its last attempt had, and its duration is the sum
of its attempts' run times. Its times have no zone.

The rules are those of Synergy's simulator (msr-fiddle/synergy,
``simulator/helpers/parse_philly_trace_full.py``, with ``multigpu``, ``sum_attempts`` and
``exponential``): it passes over an attempt that cannot be used, and makes no job where that is the
last one. For the three rules on attempts, ``left_out`` counts the jobs whose last attempt is such a
one, and ``changed`` those of the trace that lost an earlier one. A job without a GPU gets one by
``round-gpus-to-1``, as there; ``drop-without-gpus`` has work where that is off.

How long a job waited is the time from its submission to the start of its first attempt.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.formats import recorded_jobs
from traces.formats.json_array import beginning_of, source_of
from traces.formats.philly_log import PhillyLog, read_philly_log
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, CleaningRule, Head, ReadOptions, TraceFormat

MOST_GPUS = 16
USUAL_GPUS = (1, 2, 4, 8, 16)
SHORTEST_S = 60 * 10**1.5
LONGEST_S = 60 * 10.0**4

DROP_WITHOUT_ATTEMPTS = CleaningRule("drop-without-attempts", "it was never started")
DROP_WITHOUT_TIMES = CleaningRule(
    "drop-without-times",
    "an attempt lacks its start or end; the last one was still running, mostly",
)
DROP_ABOVE_16_GPUS = CleaningRule("drop-above-16-gpus", "an attempt had more than 16 GPUs")
DROP_WITHOUT_DURATION = CleaningRule(
    "drop-without-duration", "an attempt ended when it started, or before"
)
DROP_SHORT = CleaningRule("drop-short", "it ran for 10^1.5 minutes or less, over all attempts")
DROP_LONG = CleaningRule("drop-long", "it ran for 10^4 minutes or more, over all attempts")
ROUND_GPUS_TO_1 = CleaningRule(
    "round-gpus-to-1", "it had another number of GPUs than 1, 2, 4, 8 or 16, and gets one"
)
RULES = (
    DROP_WITHOUT_ATTEMPTS,
    DROP_WITHOUT_TIMES,
    DROP_ABOVE_16_GPUS,
    DROP_WITHOUT_DURATION,
    DROP_SHORT,
    DROP_LONG,
    ROUND_GPUS_TO_1,
    recorded_jobs.DROP_WITHOUT_GPUS,
    recorded_jobs.CLEAR_NEGATIVE_QUEUE,
)

_DEFAULT = ReadOptions()


def read_philly(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``, plain or packed with gzip. Raises BadInputError with line and key."""
    cleaning = Cleaning(RULES, options)
    log = read_philly_log(file, options.share)
    jobs, passed = _with_run_times(log, cleaning)
    jobs = cleaning.leave_out(jobs, (jobs["duration_s"] <= SHORTEST_S).to_numpy(), DROP_SHORT)
    jobs = cleaning.leave_out(jobs, (jobs["duration_s"] >= LONGEST_S).to_numpy(), DROP_LONG)
    odd = ~jobs["num_gpus"].isin(USUAL_GPUS).to_numpy()
    jobs = cleaning.change(jobs, odd, "num_gpus", 1, ROUND_GPUS_TO_1)
    without = (jobs["num_gpus"] == 0).to_numpy()
    jobs = cleaning.leave_out(jobs, without, recorded_jobs.DROP_WITHOUT_GPUS)
    jobs = recorded_jobs.without_negative_queue(jobs, cleaning)
    for rule, attempts in passed.items():
        cleaning.count_changed(len(np.intersect1d(log.job_of[attempts], jobs.index)), rule)
    jobs, began = recorded_jobs.from_the_earliest(jobs, is_utc=False)
    return checked_trace(
        jobs,
        source=source_of(file, options.share),
        format=FORMAT.name,
        file=file,
        read=len(log.jobs),
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        began=began,
        share=options.share,
        names={
            "job": "jobid",
            "submit_s": "submitted_time",
            "num_gpus": "attempts[-1].detail",
            "duration_s": "attempts",
            "queue_s": "attempts[0].start_time",
        },
    )


_Passed = dict[CleaningRule, NDArray[np.bool_]]  # (attempts,): those that a rule passed over


def _with_run_times(log: PhillyLog, cleaning: Cleaning) -> tuple[pd.DataFrame, _Passed]:
    """The jobs whose last attempt counts, with the columns of a trace that follow from attempts;
    and which attempts do not count."""
    none = (log.jobs["attempts"] == 0).to_numpy()
    jobs = cleaning.leave_out(log.jobs, none, DROP_WITHOUT_ATTEMPTS)
    _refuse_without_attempts(jobs, log.file)
    run_s = log.end_s - log.start_s
    last = log.first_attempt + log.jobs["attempts"].to_numpy() - 1
    counts = np.ones(len(run_s), dtype=bool)
    passed: _Passed = {}
    for rule, unusable in (
        (DROP_WITHOUT_TIMES, np.isnan(run_s)),
        (DROP_ABOVE_16_GPUS, log.gpus > MOST_GPUS),
        (DROP_WITHOUT_DURATION, run_s <= 0),
    ):
        if cleaning.applies(rule):
            passed[rule] = counts & unusable
            counts &= ~unusable
            jobs = cleaning.leave_out(jobs, passed[rule][last[jobs.index]], rule)
    counts &= np.isin(log.job_of, jobs.index)
    log.refuse(counts & np.isnan(run_s), "end_time", "no time there, or at the start", "both times")
    log.refuse(counts & (run_s < 0), "end_time", "an end before the start", "a later time")
    seconds = np.bincount(log.job_of[counts], run_s[counts], minlength=len(log.jobs))[jobs.index]
    first_start_s = log.start_s[log.first_attempt[jobs.index]]
    return jobs.assign(
        num_gpus=log.gpus[last[jobs.index]],
        duration_s=seconds,
        executed_s=seconds,
        queue_s=first_start_s - jobs["submit_s"],
    ), passed


def _refuse_without_attempts(jobs: pd.DataFrame, file: Path) -> None:
    none = jobs[jobs["attempts"] == 0]
    if not none.empty:
        raise BadInputError(
            f"job {none['job'].iat[0]!r} was never started",
            allowed=f"one attempt or more, or the rule {DROP_WITHOUT_ATTEMPTS.name}",
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
