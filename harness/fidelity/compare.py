"""A prediction against a reference: iteration times, arm by arm. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

STATISTICS = ("mean", "p50", "p99")


@dataclass(frozen=True)
class IterationTimes:
    """Over all counted iterations of all jobs of an arm, in seconds."""

    mean: float
    p50: float
    p99: float

    @classmethod
    def of(cls, iteration_s: Sequence[float]) -> IterationTimes | None:
        """None where nothing was counted."""
        if len(iteration_s) == 0:
            return None
        values = np.asarray(iteration_s, dtype=float)
        p50, p99 = np.percentile(values, (50, 99))
        return cls(float(values.mean()), float(p50), float(p99))


@dataclass(frozen=True)
class Comparison:
    """One arm on both sides. difference: prediction / reference - 1, by statistic."""

    arm: str
    reference: IterationTimes
    prediction: IterationTimes

    @property
    def difference(self) -> dict[str, float]:
        """Relative difference of each statistic."""
        reference, prediction = asdict(self.reference), asdict(self.prediction)
        return {name: prediction[name] / reference[name] - 1 for name in STATISTICS}


@dataclass(frozen=True)
class Fidelity:
    """All arms that both sides have, and what only one of them has: counted, never dropped."""

    comparisons: tuple[Comparison, ...]
    only_reference: tuple[str, ...]
    only_prediction: tuple[str, ...]

    @property
    def worst(self) -> float:
        """Largest absolute relative difference of a mean."""
        return max((abs(c.difference["mean"]) for c in self.comparisons), default=0.0)


def times_by_arm(iterations: pd.DataFrame) -> dict[str, IterationTimes]:
    """Iteration times of each arm of an iterations table, counted ones only."""
    found = {}
    for arm, group in iterations[iterations["counted"]].groupby("arm", sort=False):
        times = IterationTimes.of(group["iteration_s"].tolist())
        if times is not None:
            found[str(arm)] = times
    return found


def compare(reference: pd.DataFrame, prediction: pd.DataFrame) -> Fidelity:
    """Compare two iterations tables (columns of traces.results.IterationRow)."""
    ours, theirs = times_by_arm(reference), times_by_arm(prediction)
    return Fidelity(
        tuple(Comparison(arm, ours[arm], theirs[arm]) for arm in ours if arm in theirs),
        tuple(arm for arm in ours if arm not in theirs),
        tuple(arm for arm in theirs if arm not in ours),
    )
