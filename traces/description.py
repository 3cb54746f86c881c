"""What a trace is, in figures: jobs, load, sizes, times, patterns, groups. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.arrivals import ArrivalPattern, arrival_pattern
from traces.groups import Group, Groups, all_groups, grouped
from traces.job_trace import JobTrace, instant_of
from traces.offered_load import offered_load

Floats = NDArray[np.float64]

_S_PER_H = 3600.0
_GROUPED = ("user", "virtual_cluster", "gpu_type", "model", "state")


@dataclass(frozen=True)
class Quantiles:
    """Of amounts in a unit of their own. known: of how many jobs (or gaps) the amount is known.

    A quantile is the least amount that at least such a share of them does not exceed.
    """

    known: int
    mean: float
    p10: float
    p50: float
    p90: float
    p99: float
    max: float


@dataclass(frozen=True)
class TraceDescription:
    """What is None is unknown: the source does not say it, or one instant has no rates.

    span_s: from the first submission to the last. untimed: jobs whose run time is not known.
    gpu_time_s: GPUs x run time, of all jobs. offered_gpus: that over the span, which is the load
        that comes in. mean_gpus, peak_gpus: GPUs in use during the span, if no job waited.
    gap_s: times between one submission and the next. run_s: see :func:`run_times_s`.
    sizes: jobs by GPUs, the fewest first.
    """

    jobs: int
    span_s: float
    jobs_per_hour: float | None
    untimed: int
    gpu_time_s: float | None
    offered_gpus: float | None
    mean_gpus: float | None
    peak_gpus: float | None
    gap_s: Quantiles | None
    run_s: Quantiles | None
    iterations: Quantiles | None
    queue_s: Quantiles | None
    sizes: tuple[Group, ...]
    pattern: ArrivalPattern | None
    user: Groups | None
    virtual_cluster: Groups | None
    gpu_type: Groups | None
    model: Groups | None
    state: Groups | None


def run_times_s(jobs: pd.DataFrame) -> Floats:
    """How long each job runs with its GPU-proportional share; NaN where that is not known.

    jobs: with JOB_COLUMNS. Iterations x iteration_s where the source has both, else duration_s.
    """
    work_s = (jobs["iterations"] * jobs["iteration_s"]).to_numpy(dtype="float64")
    return np.where(np.isnan(work_s), jobs["duration_s"].to_numpy(dtype="float64"), work_s)


def gaps_s(jobs: pd.DataFrame) -> Floats:
    """The times between one submission and the next, shape (jobs - 1,)."""
    return np.diff(jobs["submit_s"].to_numpy(dtype="float64"))


def describe(trace: JobTrace) -> TraceDescription:
    """The description of ``trace``, or of the part of it that was read."""
    jobs = trace.jobs
    submit_s = jobs["submit_s"].to_numpy(dtype="float64")
    num_gpus = jobs["num_gpus"].to_numpy(dtype="float64")
    span_s = float(submit_s[-1] - submit_s[0])
    run_s = run_times_s(jobs)
    gpu_time_s = run_s * num_gpus
    timed = ~np.isnan(run_s)
    total_s = float(gpu_time_s[timed].sum()) if timed.any() else None
    mean_gpus, peak_gpus = _load(submit_s[timed], run_s[timed], num_gpus[timed], submit_s[[0, -1]])
    groups = {name: grouped(jobs[name], gpu_time_s) for name in _GROUPED}
    return TraceDescription(
        jobs=len(jobs),
        span_s=span_s,
        jobs_per_hour=len(jobs) / span_s * _S_PER_H if span_s else None,
        untimed=int(np.count_nonzero(~timed)),
        gpu_time_s=total_s,
        offered_gpus=total_s / span_s if total_s is not None and span_s else None,
        mean_gpus=mean_gpus,
        peak_gpus=peak_gpus,
        gap_s=quantiles(gaps_s(jobs)),
        run_s=quantiles(run_s),
        iterations=quantiles(jobs["iterations"].to_numpy(dtype="float64")),
        queue_s=quantiles(jobs["queue_s"].to_numpy(dtype="float64")),
        sizes=all_groups(jobs["num_gpus"], gpu_time_s),
        pattern=arrival_pattern(submit_s, instant_of(trace.began)) if trace.began else None,
        **groups,
    )


def quantiles(amounts: Floats) -> Quantiles | None:
    """Of those ``amounts`` that are not NaN; None where all are. shape (n,)."""
    known = amounts[~np.isnan(amounts)]
    if not known.size:
        return None
    p10, p50, p90, p99 = np.quantile(known, (0.1, 0.5, 0.9, 0.99), method="inverted_cdf").tolist()
    return Quantiles(known.size, float(known.mean()), p10, p50, p90, p99, max=float(known.max()))


def _load(
    submit_s: Floats, run_s: Floats, num_gpus: Floats, ends_s: Floats
) -> tuple[float | None, float | None]:
    """Mean and peak of GPUs in use between ``ends_s``; None where they are not known."""
    if not submit_s.size:
        return None, None
    load = offered_load(submit_s, run_s, num_gpus)
    mean_gpus = float(load.means(ends_s)[0]) if ends_s[1] > ends_s[0] else None
    return mean_gpus, load.peak_gpus
