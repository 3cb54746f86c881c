"""Groups of jobs that are alike, in length, model or GPUs, and their completion times. Pure."""

from __future__ import annotations

import numpy as np
import pandas as pd

LENGTHS = 10
MODELS_SHOWN = 16
OTHERS = "others"


def by_length(jobs: pd.DataFrame) -> pd.Series[int]:
    """From 0, the shortest, on: as many jobs in each group as far as their lengths differ."""
    return pd.qcut(jobs["alone_s"], LENGTHS, labels=False, duplicates="drop")


def by_model(jobs: pd.DataFrame) -> pd.Series[str]:
    """Names of models; those with the fewest jobs together where there are many."""
    models = jobs["model"].dropna().astype(str)
    counts = models.value_counts()
    if len(counts) > MODELS_SHOWN:
        models = models.where(models.isin(counts.index[: MODELS_SHOWN - 1]), OTHERS)
    return models


def by_gpus(jobs: pd.DataFrame) -> pd.Series:
    """``1``, ``2``, ``3 to 4``, ``5 to 8`` and so on, as far as there are such jobs, in order."""
    gpus = jobs["num_gpus"]
    power = np.ceil(np.log2(gpus)).astype(int)
    ends = gpus.groupby(power).agg(["min", "max"])
    names = [str(low) if low == high else f"{low} to {high}" for low, high in ends.to_numpy()]
    of_power = dict(zip(ends.index, names, strict=True))
    kind = pd.CategoricalDtype(names, ordered=True)
    return pd.Series(power.map(of_power), dtype=kind)


def mean_times(jobs: pd.DataFrame, groups: pd.Series) -> pd.DataFrame:
    """One row an arm and group, groups in order: jobs, and the means of alone_s and jct_s."""
    by = [jobs["arm"].astype(str), groups.rename("group")]
    found = jobs.groupby(by, observed=True)
    return found.agg(
        jobs=("jct_s", "size"), alone_mean_s=("alone_s", "mean"), jct_mean_s=("jct_s", "mean")
    ).reset_index()
