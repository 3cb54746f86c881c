"""Whether a prediction orders schedulers as the reference does, and gives the same speed-ups. Pure.

A scheduler is an arm, and is better the shorter its mean is. All arms are compared over the jobs
that all of them have, and all are drawn anew together.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from harness.fidelity.bootstrap import LEAST_UNITS, resample
from harness.fidelity.estimates import Estimate, of
from harness.fidelity.pair_statistics import Ratio, RatioOfMeans
from harness.fidelity.pairs import SIDES, Measure, Pairs

CERTAIN = 0.95
MOST_ARMS = 20


@dataclass(frozen=True)
class Speedup:
    """How much longer ``slower`` takes than ``faster``, as the reference orders them.

    reference, prediction: the ratio of their means on each side. error: the prediction's over the
    reference's. certainty: the share of resamples in which the reference orders them so.
    """

    faster: str
    slower: str
    reference: Estimate
    prediction: Estimate
    error: Estimate
    certainty: float

    @property
    def is_certain(self) -> bool:
        """Whether the reference can tell the two apart."""
        return self.certainty >= CERTAIN

    @property
    def is_kept(self) -> bool:
        """Whether the prediction has the same order."""
        return self.prediction.value > 1


@dataclass(frozen=True)
class Decision:
    """order: arms, the best first, by side. speedups: of every two arms. kendall: of the two
    orders. units: what the arms have in common, jobs or blocks of iterations."""

    measure: Measure
    reference: tuple[str, ...]
    prediction: tuple[str, ...]
    speedups: tuple[Speedup, ...]
    kendall: float
    units: int

    @property
    def certain(self) -> list[Speedup]:
        """Those of arms that the reference can tell apart."""
        return [each for each in self.speedups if each.is_certain]

    @property
    def reversed(self) -> list[Speedup]:
        """Of them, those that the prediction puts the other way round."""
        return [each for each in self.certain if not each.is_kept]

    @property
    def same_best(self) -> bool:
        return self.reference[0] == self.prediction[0]


def decide(arms: Sequence[Pairs]) -> Decision | None:
    """arms: of one measure. None where there are fewer than two, more than MOST_ARMS, or they have
    too little in common."""
    if not 2 <= len(arms) <= MOST_ARMS:
        return None
    by_side = _common_means(arms)
    units = len(by_side["reference"])
    if units < LEAST_UNITS:
        return None
    reference, prediction = (list(by_side[side].mean().sort_values().index) for side in SIDES)
    couples = list(itertools.combinations(reference, 2))
    statistics = [
        statistic for faster, slower in couples for statistic in _ratios(by_side, faster, slower)
    ]
    found = iter(resample(statistics, units))
    speedups = []
    for faster, slower in couples:
        ours, theirs, error = next(found), next(found), next(found)
        certainty = float(np.mean(ours.resampled > 1))
        speedups.append(Speedup(faster, slower, of(ours), of(theirs), of(error), certainty))
    kept = [each.is_kept for each in speedups]
    return Decision(
        arms[0].measure,
        tuple(reference),
        tuple(prediction),
        tuple(speedups),
        (2 * sum(kept) - len(kept)) / len(kept),
        units,
    )


def _ratios(
    means: dict[str, pd.DataFrame], faster: str, slower: str
) -> tuple[RatioOfMeans, RatioOfMeans, Ratio]:
    ours, theirs = (
        RatioOfMeans(means[side][slower].to_numpy(), means[side][faster].to_numpy())
        for side in SIDES
    )
    return ours, theirs, Ratio(theirs, ours)


def _common_means(arms: Sequence[Pairs]) -> dict[str, pd.DataFrame]:
    """By side, (units, arms): the mean time of each unit that all arms have."""
    tables = [_unit_means(arm) for arm in arms]
    common = functools.reduce(lambda a, b: a.intersection(b, sort=False), (t.index for t in tables))
    return {
        side: pd.DataFrame(
            {arm.arm: t.loc[common, side] for arm, t in zip(arms, tables, strict=True)}
        )
        for side in SIDES
    }


def _unit_means(arm: Pairs) -> pd.DataFrame:
    """The mean times of each unit, by what names it: its job, and the place of its block there."""
    table = pd.DataFrame(
        {
            "job": arm.table["job"],
            "unit": arm.unit,
            "reference": arm.reference_s,
            "prediction": arm.prediction_s,
        }
    )
    means = table.groupby(["job", "unit"], sort=False)[list(SIDES)].mean().reset_index()
    means["block"] = means.groupby("job", sort=False).cumcount()
    return means.set_index(["job", "block"])[list(SIDES)]
