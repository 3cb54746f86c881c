"""Jobs of a trace by what they share: a user, a size, a model, the way they ended. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MAX_LARGEST = 10


@dataclass(frozen=True)
class Group:
    """Jobs that have something in common.

    jobs_share: of the jobs that are grouped. gpu_time_share: of their GPU time; None where the run
    time of none of them is known.
    """

    name: str
    jobs: int
    jobs_share: float
    gpu_time_share: float | None


@dataclass(frozen=True)
class Groups:
    """known: jobs of which the group is known. count: groups.

    largest: at most MAX_LARGEST, by GPU time (by jobs where that is unknown), the largest first.
    gini: the Gini coefficient of that amount over the groups: 0 where all have as much, towards 1
    where one has all.
    """

    known: int
    count: int
    largest: tuple[Group, ...]
    gini: float


def grouped(keys: pd.Series, gpu_time_s: NDArray[np.float64]) -> Groups | None:
    """The jobs by ``keys``, null where unknown; None where it is unknown of all.

    keys: shape (jobs,). gpu_time_s: shape (jobs,), GPUs x time, NaN where unknown.
    """
    if keys.isna().all():
        return None
    groups = all_groups(keys, gpu_time_s)
    amounts = np.array(
        [group.jobs if group.gpu_time_share is None else group.gpu_time_share for group in groups]
    )
    order = np.argsort(-amounts, kind="stable")[:MAX_LARGEST]
    return Groups(
        known=int(keys.notna().sum()),
        count=len(groups),
        largest=tuple(groups[index] for index in order),
        gini=gini(amounts),
    )


def all_groups(keys: pd.Series, gpu_time_s: NDArray[np.float64]) -> tuple[Group, ...]:
    """Every group, in the order of the keys. Shapes as of :func:`grouped`."""
    frame = pd.DataFrame({"key": keys.to_numpy(), "gpu_time_s": gpu_time_s})
    table = frame.groupby("key").agg(jobs=("key", "size"), gpu_time_s=("gpu_time_s", "sum"))
    jobs, total_s = int(table["jobs"].sum()), float(table["gpu_time_s"].sum())
    return tuple(
        Group(
            name=str(name),
            jobs=int(count),
            jobs_share=count / jobs,
            gpu_time_share=float(amount_s) / total_s if total_s else None,
        )
        for name, count, amount_s in zip(
            table.index, table["jobs"].tolist(), table["gpu_time_s"].tolist(), strict=True
        )
    )


def gini(amounts: NDArray[np.float64]) -> float:
    """The Gini coefficient of ``amounts`` of 0 or more; 0 where all are 0. shape (groups,).

    Half the mean absolute difference of two of them, over their mean.
    """
    ordered = np.sort(amounts.astype("float64"))
    total = float(ordered.sum())
    if not total:
        return 0.0
    ranks = np.arange(1, ordered.size + 1)
    return float(np.dot(2 * ranks - ordered.size - 1, ordered) / (ordered.size * total))
