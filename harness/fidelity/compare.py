"""Iteration times of an arm, and how a prediction of them differs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

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
