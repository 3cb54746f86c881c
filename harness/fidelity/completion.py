"""Simulated against emulated completion times, job by job. Pure.

The same jobs ran on both sides, so that errors are paired: of one job, simulated over emulated
completion time, less 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class CompletionErrors:
    """Of the jobs of an arm that count and ended on both sides, over all seeds.

    emulated_mean_s, simulated_mean_s: completion times; mean_error: of their ratio. bias, median,
    mape, p95, most: mean, median, and of the absolute errors the mean, 95th percentile and maximum.
    only_simulated, only_emulated: jobs that count and ended on one side only.
    """

    jobs: int
    emulated_mean_s: float
    simulated_mean_s: float
    mean_error: float
    bias: float
    median: float
    mape: float
    p95: float
    most: float
    only_simulated: int
    only_emulated: int


def completion_errors(simulated: pd.DataFrame, emulated: pd.DataFrame) -> CompletionErrors | None:
    """Compare two jobs tables (traces.rounds_results.JOBS) of one arm; None where no job ended."""
    both = _counted(emulated).merge(
        _counted(simulated), on=["seed", "job"], how="outer", suffixes=("_emulated", "_simulated")
    )
    emulated_s = both["jct_s_emulated"].to_numpy(dtype=float, na_value=np.nan)
    simulated_s = both["jct_s_simulated"].to_numpy(dtype=float, na_value=np.nan)
    paired = ~np.isnan(emulated_s) & ~np.isnan(simulated_s)
    if not paired.any():
        return None
    errors = simulated_s[paired] / emulated_s[paired] - 1
    sizes = np.abs(errors)
    emulated_mean_s = float(emulated_s[paired].mean())
    simulated_mean_s = float(simulated_s[paired].mean())
    return CompletionErrors(
        jobs=int(paired.sum()),
        emulated_mean_s=emulated_mean_s,
        simulated_mean_s=simulated_mean_s,
        mean_error=simulated_mean_s / emulated_mean_s - 1,
        bias=float(errors.mean()),
        median=float(np.median(errors)),
        mape=float(sizes.mean()),
        p95=float(np.percentile(sizes, 95)),
        most=float(sizes.max()),
        only_simulated=int((np.isnan(emulated_s) & ~np.isnan(simulated_s)).sum()),
        only_emulated=int((np.isnan(simulated_s) & ~np.isnan(emulated_s)).sum()),
    )


def _counted(jobs: pd.DataFrame) -> pd.DataFrame:
    return jobs.loc[jobs["counted"], ["seed", "job", "jct_s"]]
