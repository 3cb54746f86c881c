"""More jobs like those of a trace: its rate by the hour of the week, and whole jobs drawn from it.

Arrivals follow the trace's own rate, times a factor (repeating_rate.py). What a job is like is a
bootstrap: each is a copy of one of the trace's jobs, all as likely, so that size, duration, model
and user go together as they do there. It is drawn from those that were submitted in the same hour
of the period, or from all.

What a trace's jobs do to each other is not kept: jobs that a user submits together become single
ones, and arrivals inside an hour are as those of a Poisson process.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from traces.description import run_times_s
from traces.errors import BadInputError
from traces.generators.job_mix import job_ids
from traces.generators.models import Models
from traces.generators.repeating_rate import Period, RepeatingRate, repeating_rate
from traces.hours_of_week import Floats, Ints
from traces.job_trace import JOB_COLUMNS, JobTrace, checked_trace

MAX_JOBS = 10_000_000

# The wait was that of another queue; the others are given anew.
_NOT_COPIED = ("job", "submit_s", "queue_s", "line")
_BLOCK = 4096  # arrivals that are drawn together


@dataclass(frozen=True, eq=False)
class EmpiricalJobs:
    """What is drawn from. rate: of the arrivals of ``trace``, with this ``period``.

    same_hour: whether a job is a copy of one of the same hour of the period, or else of any.
    """

    trace: JobTrace
    period: Period
    same_hour: bool
    rate: RepeatingRate

    @classmethod
    def of(cls, trace: JobTrace, period: Period, *, same_hour: bool) -> EmpiricalJobs:
        """Raises BadInputError where ``trace`` is shorter than the period."""
        return cls(trace, period, same_hour, repeating_rate(trace, period))

    def offered_gpus(self) -> float:
        """GPUs that the jobs would keep busy in the mean at the trace's own rate.

        The mean over the period of (arrivals a second x mean GPU-seconds of the jobs drawn from).
        Raises BadInputError where a job's time is not known.
        """
        jobs = self.trace.jobs
        run_s = run_times_s(jobs)
        unknown = int(np.count_nonzero(np.isnan(run_s)))
        if unknown:
            raise BadInputError(
                f"of {unknown:,} of {len(jobs):,} jobs it is not known how long they run",
                allowed="a rate that is given otherwise",
            )
        gpu_s = run_s * jobs["num_gpus"].to_numpy()
        per_s = self.rate.per_s
        if not self.same_hour:
            return float(per_s.mean() * gpu_s.mean())
        hours = self.rate.hours(jobs["submit_s"].to_numpy())
        count = np.bincount(hours, minlength=len(per_s))
        asked = np.bincount(hours, weights=gpu_s, minlength=len(per_s))
        return float((per_s * asked / np.maximum(count, 1)).mean())

    def draw(
        self,
        seed: int,
        *,
        factor: float = 1.0,
        count: int | None = None,
        length_s: float | None = None,
        models: Models | None = None,
    ) -> JobTrace:
        """The first ``count`` jobs, or those that arrive within ``length_s``; with both, the fewer.

        Time 0 is the instant at which the trace began. factor: of the trace's own rate.
        models: for jobs that have none in the trace; those that have one keep it.

        Two traces with the same seed begin with the same jobs, whatever their counts. Raises
        BadInputError where no job arrives, or more than MAX_JOBS, and where ``models`` would
        change nothing.
        """
        streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3)]
        arrivals, picks, names = streams
        submit_s, hours = self._arrivals(arrivals, factor, count, length_s)
        picked = self._picked(hours, picks.random(len(hours)))
        copied = [name for name in JOB_COLUMNS if name not in _NOT_COPIED]
        jobs = self.trace.jobs[copied].iloc[picked].reset_index(drop=True)
        jobs = jobs.assign(job=job_ids(len(jobs)), submit_s=submit_s)
        if models is not None:
            self._refuse_useless_models()
            unnamed = jobs["model"].isna()
            jobs.loc[unnamed, "model"] = models.draw(jobs[unnamed], names)
        return checked_trace(
            jobs,
            source=f"{self._words(factor, models)}, seed {seed}",
            format="generated",
            began=self.trace.began,
            notes=self._notes(),
        )

    def _arrivals(
        self,
        random: np.random.Generator,
        factor: float,
        count: int | None,
        length_s: float | None,
    ) -> tuple[Floats, Ints]:
        """When jobs arrive, and in which hours of the period."""
        most = math.inf if length_s is None else factor * self.rate.expected(length_s)
        wanted = most if count is None else min(count, most)
        if wanted > MAX_JOBS:
            problem = f"{wanted:.3g} jobs would arrive"
            raise BadInputError(problem, allowed=f"a length or number for at most {MAX_JOBS:,}")
        blocks, drawn, last = [np.empty(0)], 0, 0.0
        while last <= most and (count is None or drawn < count):
            # As one sum, so that it does not matter where a block ends.
            blocks.append(np.cumsum(np.append(last, random.exponential(1.0, _BLOCK)))[1:])
            drawn, last = drawn + _BLOCK, float(blocks[-1][-1])
        arrived = np.concatenate(blocks)[:count]
        arrived = arrived[arrived <= most]
        if not arrived.size:
            raise BadInputError("no job arrives in that time", allowed="a longer time")
        return self.rate.times(arrived / factor)

    def _picked(self, hours: Ints, drawn: Floats) -> Ints:
        """(jobs,): the row in the trace that each is a copy of. drawn: from 0 to 1."""
        if not self.same_hour:
            return (drawn * len(self.trace.jobs)).astype(np.int64)
        hour_of_row = self.rate.hours(self.trace.jobs["submit_s"].to_numpy())
        rows = np.argsort(hour_of_row, kind="stable")
        count = np.bincount(hour_of_row, minlength=len(self.rate.per_s))
        first = np.cumsum(count) - count
        # Only in hours in which the trace has jobs do any arrive.
        return np.asarray(rows[first[hours] + (drawn * count[hours]).astype(np.int64)])

    def _refuse_useless_models(self) -> None:
        if self.trace.jobs["model"].notna().all():
            problem = "every job has a model already"
            raise BadInputError(problem, allowed="no split or table of models")

    def _words(self, factor: float, models: Models | None) -> str:
        rate = self.rate.jobs_per_hour * factor
        kept = {"week": "by the hour of the week", "day": "by the hour of the day", "none": "even"}
        drawn = "from the same hour" if self.same_hour else "from all"
        words = (
            f"resampled from {self.trace.source} ({self.trace.format}), {rate:.6g} jobs an hour "
            f"({factor:.6g} of its rate), {kept[self.period]}, each drawn {drawn}"
        )
        return words if models is None else f"{words}, {models} where it names no model"

    def _notes(self) -> tuple[str, ...]:
        if self.trace.began is not None or self.period == "none":
            return ()
        return (
            f"the source gives no instants: hours of the {self.period} count from its first job",
        )
