"""A job that was counted on this machine, fitted: what an iteration sends, by all that is known."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profiler.demand_fit.fit import fit_series
from profiler.demand_fit.pattern import Estimate, PatternFit, SeriesFit
from profiler.network.command_here import CountedRun
from profiler.network.counted_devices import DeviceCount, count_devices, sum_of
from profiler.network.counter_readings import by_intervals
from profiler.network.iteration_marks import Mark, lengths_s
from traces.errors import BadInputError
from traces.load_series import LoadSeries

_LEAST_MARKS = 3
_HARDLY = 0.01  # of the highest rate: what is sent before and behind a job


@dataclass(frozen=True)
class FittedRun:
    """What was found; all of it None or empty where there was nothing to find it in.

    sent: of the devices in the sum, in the iterations that count.
    fit: of that; problem: why there is none.
    timer: the job's own iteration time. marked_bytes: sent in one iteration from mark to mark.
    begins_after_mark_s: how long after a mark the fit has the iteration begin.
    """

    run: CountedRun
    devices: tuple[DeviceCount, ...]
    sent: LoadSeries | None
    fit: SeriesFit | None
    problem: BadInputError | None
    timer: Estimate | None
    marked_bytes: Estimate | None

    @property
    def pattern(self) -> PatternFit | None:
        return None if self.fit is None else self.fit.longest

    @property
    def period_error(self) -> float | None:
        """Of the fitted period from the job's own timer, as a share of this."""
        if self.pattern is None or self.timer is None:
            return None
        return self.pattern.period_s.value / self.timer.value - 1

    @property
    def begins_after_mark_s(self) -> float | None:
        if self.pattern is None or self.timer is None:
            return None
        at_s = np.array([mark.t_s for mark in self.run.marks])
        before_s = at_s[at_s <= self.pattern.start_s]
        return float(self.pattern.start_s - before_s[-1]) if len(before_s) else None

    @property
    def gap_share(self) -> float:
        """Of the time: what was not sampled."""
        return 0.0 if self.sent is None else self.sent.num_gaps / len(self.sent.sent_bytes)


def fit_run(run: CountedRun, *, are_chosen: bool) -> FittedRun:
    """Fit what ``run`` sent. are_chosen: its devices, by a person."""
    devices = count_devices(run.readings, run.job.devices, are_chosen=are_chosen)
    everything = sum_of(devices)
    has_marks = len(run.marks) >= _LEAST_MARKS
    lengths = lengths_s(run.marks)
    sent, fit, problem = everything, None, None
    try:
        sent = _of_iterations(everything, run.marks) if has_marks else _in_use(everything)
        fit = fit_series(sent, statistics.median(lengths) if has_marks else None)
    except BadInputError as error:
        problem = error
    return FittedRun(
        run=run,
        devices=devices,
        sent=sent,
        fit=fit,
        problem=problem,
        timer=Estimate.of_mean(lengths) if has_marks else None,
        marked_bytes=_between_marks(everything, run.marks) if everything and has_marks else None,
    )


def _of_iterations(series: LoadSeries | None, marks: Sequence[Mark]) -> LoadSeries:
    if series is None:
        raise _nothing_sent()
    try:
        return series.between(marks[0].t_s, marks[-1].t_s)
    except ValueError:
        raise BadInputError(
            "the iterations that count are shorter than an interval", allowed="more --iterations"
        ) from None


def _in_use(series: LoadSeries | None) -> LoadSeries:
    """Without what comes before the job first sends, and after it last did."""
    if series is None:
        raise _nothing_sent()
    rates = series.sent_bytes / np.diff(series.edges_s)
    used = np.flatnonzero(rates > _HARDLY * np.nanmax(rates, initial=0.0))
    if not len(used):
        raise _nothing_sent()
    return series.between(float(series.edges_s[used[0]]), float(series.edges_s[used[-1] + 1]))


def _nothing_sent() -> BadInputError:
    return BadInputError("no network device sent anything", allowed="a job that communicates")


def _between_marks(series: LoadSeries, marks: Sequence[Mark]) -> Estimate | None:
    """Bytes of an iteration, over those in which nothing was missed; None for less than two."""
    at_s = np.array([mark.t_s for mark in marks])
    done = np.diff([mark.done for mark in marks])
    sent = by_intervals(series.edges_s, series.sent_bytes, at_s) / done
    is_whole = ~np.isnan(sent)
    each = np.repeat(sent[is_whole], done[is_whole]).tolist()
    return Estimate.of_mean(each) if len(each) > 1 else None
