"""How far the reference is off itself between repeats, which no prediction can beat. Pure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from harness.fidelity.bootstrap import Floats
from harness.fidelity.inputs.results import Results
from harness.fidelity.pairs import Measure

_SAME_SHARE = 0.01  # of a submission, which repeats of a recorded run may differ by


@dataclass(frozen=True)
class NoiseFloor:
    """Of an arm of the reference, over every two of its repeats.

    means_off: how far the means of two repeats are apart, the larger over the smaller less 1, one
    for every two. mape: the mean absolute error of a pair. largest, typical: of means_off, the
    maximum and the median.
    """

    repeats: int
    means_off: tuple[float, ...]
    mape: float

    @property
    def largest(self) -> float:
        return max(self.means_off)

    @property
    def typical(self) -> float:
        return float(np.median(self.means_off))


def noise_floor(reference: Results, arm: str, measure: Measure) -> NoiseFloor | None:
    """None where the arm has one repeat only, or its seeds are of different jobs."""
    table = reference.jobs if measure == "jct_s" else reference.iterations
    if table is None:
        return None
    own = table[(table["arm"] == arm) & table[measure].notna()]
    key = ["job"] if measure == "jct_s" else ["job", "iteration"]
    repeats = {str(seed): rows.set_index(key) for seed, rows in own.groupby("seed", sort=False)}
    means_off, errors = [], []
    for one, other in itertools.combinations(repeats.values(), 2):
        common = one.index.intersection(other.index, sort=False)
        if not len(common) or not _same_jobs(one.loc[common], other.loc[common]):
            return None
        first, second = (side.loc[common, measure].to_numpy(dtype=float) for side in (one, other))
        ratio = float(first.mean() / second.mean())
        means_off.append(max(ratio, 1 / ratio) - 1)
        errors.append(_mape(first, second))
    if not means_off:
        return None
    return NoiseFloor(len(repeats), tuple(means_off), float(np.mean(errors)))


def _mape(first: Floats, second: Floats) -> float:
    """Of each over the other, as neither is more right."""
    return float(np.mean((np.abs(first / second - 1) + np.abs(second / first - 1)) / 2))


def _same_jobs(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Whether jobs of the same name came at the same time, where that is known."""
    if "submit_s" not in one or one["submit_s"].isna().any() or other["submit_s"].isna().any():
        return True
    first, second = (side["submit_s"].to_numpy(dtype=float) for side in (one, other))
    return bool(np.allclose(first, second, rtol=_SAME_SHARE, atol=60.0))
