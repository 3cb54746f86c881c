"""How far two traces are apart: in run times, gaps between submissions, and GPUs. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from traces.description import gaps_s, run_times_s

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Distance:
    """Of two samples of the same amount.

    ks: the Kolmogorov-Smirnov distance, the largest difference of the shares at or below an
        amount: 0 to 1. ks_at: that amount. ks_first: whether the first sample has the larger share.
    wasserstein: by how much amounts of the same rank differ on average, in the unit of the amounts.
    wasserstein_share: that over the larger of the two means; None where both are 0.
    """

    ks: float
    ks_at: float
    ks_first: bool
    wasserstein: float
    wasserstein_share: float | None


@dataclass(frozen=True)
class TraceDistances:
    """run_s, gap_s: of times in s; num_gpus: of GPUs a job. None where a trace does not know it."""

    run_s: Distance | None
    gap_s: Distance | None
    num_gpus: Distance | None


def trace_distances(first: pd.DataFrame, second: pd.DataFrame) -> TraceDistances:
    """Between the jobs of two traces, each with JOB_COLUMNS."""
    sizes = [jobs["num_gpus"].to_numpy(dtype="float64") for jobs in (first, second)]
    return TraceDistances(
        run_s=distance(run_times_s(first), run_times_s(second)),
        gap_s=distance(gaps_s(first), gaps_s(second)),
        num_gpus=distance(*sizes),
    )


def distance(first: Floats, second: Floats) -> Distance | None:
    """Between samples of shapes (n,) and (m,), without their NaN; None where one is empty."""
    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
    if not (first.size and second.size):
        return None
    # Only the statistic is used. Its exact probability would take minutes, and the asymptotic one
    # divides by 0 where samples are small.
    with np.errstate(divide="ignore"):
        found = stats.ks_2samp(first, second, method="asymp")
    wasserstein = float(stats.wasserstein_distance(first, second))
    mean = max(float(first.mean()), float(second.mean()))
    return Distance(
        ks=float(found.statistic),
        ks_at=float(found.statistic_location),
        ks_first=bool(found.statistic_sign > 0),
        wasserstein=wasserstein,
        wasserstein_share=wasserstein / mean if mean else None,
    )
