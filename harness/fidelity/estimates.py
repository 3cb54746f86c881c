"""How a prediction's mean and its tail stand to the reference's, with intervals. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.fidelity.bootstrap import Floats, Resampled, resample
from harness.fidelity.pair_statistics import Quantile, Ratio, RatioOfMeans, sums
from harness.fidelity.pairs import SIDES, Pairs

Statement = Literal["equivalent", "different", "undecided"]

MARGIN = 0.05
LEAST_UNITS = 20
"""Units of which less is too little to say anything but ``undecided``: a bootstrap of fewer gives
intervals that are too short."""

TAIL = 0.99

LEAST_SEEDS = 5
"""Of which a makespan has an interval. Bootstraps of few are too short: one of 95 % holds the truth
in about 75 of 100 cases with three or four seeds, in 86 with five, and in 94 with twenty, where
makespans scatter by 15 % and the errors of the prediction by 3 %, lognormally."""


@dataclass(frozen=True)
class Estimate:
    """A ratio of prediction to reference.

    interval: 95 %. narrow: 90 %, whose ends are those of two one-sided tests at 5 %. Both None
    where there is too little for one.
    """

    value: float
    interval: tuple[float, float] | None
    narrow: tuple[float, float] | None


@dataclass(frozen=True)
class Times:
    """Of the pairs of an arm on one side, in s. Percentiles are times that occur."""

    mean: float
    p50: float
    p99: float


@dataclass(frozen=True)
class Makespan:
    """From the first submission to the last end of the jobs on both sides, in s: mean over seeds.

    ratio: of the two means. Its intervals are over seeds, in pairs: what was drawn is a whole run.
    Jobs cannot be drawn anew for it, as no draw of them ends later than all of them do (Efron and
    Tibshirani, 1993, section 7.4). no_interval: why there is none, where there is none.
    """

    reference_s: float
    prediction_s: float
    ratio: Estimate
    seeds: int
    no_interval: str | None


@dataclass(frozen=True)
class Estimates:
    """mean, tail: of the means, and of the 99th percentiles. units: that were drawn anew."""

    reference: Times
    prediction: Times
    mean: Estimate
    tail: Estimate
    units: int

    def statement(self, margin: float) -> Statement:
        """Whether the ratio of means is within ``1 - margin`` and ``1 + margin``.

        Two one-sided tests at 5 % (Schuirmann, 1987): ``equivalent`` where the whole 90 % interval
        is inside, ``different`` where it is outside, else ``undecided``.
        """
        if self.units < LEAST_UNITS or self.mean.narrow is None:
            return "undecided"
        low, high = self.mean.narrow
        if 1 - margin <= low and high <= 1 + margin:
            return "equivalent"
        return "different" if high < 1 - margin or low > 1 + margin else "undecided"


def estimate(pairs: Pairs) -> Estimates:
    """The estimates of one arm."""
    unit = pairs.unit
    sides = (pairs.prediction_s, pairs.reference_s)
    mean = RatioOfMeans(*(sums(times_s, unit) for times_s in sides))
    tail = Ratio(*(Quantile(times_s, unit, TAIL) for times_s in sides))
    of_mean, of_tail = resample((mean, tail), pairs.units)
    return Estimates(
        reference=_times(pairs.reference_s),
        prediction=_times(pairs.prediction_s),
        mean=of(of_mean),
        tail=of(of_tail),
        units=pairs.units,
    )


def of(resampled: Resampled) -> Estimate:
    """A statistic with its intervals."""
    return Estimate(resampled.value, resampled.interval(0.95), resampled.interval(0.90))


_NO_INTERVAL = (
    "a makespan is one number of a whole run, so that its interval rests on seeds (or repeats), of "
    f"which it takes {LEAST_SEEDS} or more"
)


def makespan(pairs: Pairs) -> Makespan | None:
    """None where submissions or ends are not known on both sides."""
    if pairs.measure != "jct_s" or "finish_s_reference" not in pairs.table:
        return None
    needed = [f"{name}_{side}" for side in SIDES for name in ("submit_s", "finish_s")]
    if any(name not in pairs.table for name in needed) or pairs.table[needed].isna().any(axis=None):
        return None
    seeds = pairs.table.groupby("seed", sort=False)
    reference, prediction = (
        (seeds[f"finish_s_{side}"].max() - seeds[f"submit_s_{side}"].min()).to_numpy(dtype=float)
        for side in SIDES
    )
    count = len(reference)
    means_s = float(reference.mean()), float(prediction.mean())
    if count < LEAST_SEEDS:
        ratio = Estimate(means_s[1] / means_s[0], None, None)
        return Makespan(*means_s, ratio, count, _NO_INTERVAL)
    (resampled,) = resample((RatioOfMeans(prediction, reference),), count)
    return Makespan(*means_s, of(resampled), count, None)


def _times(times_s: Floats) -> Times:
    p50, p99 = np.percentile(times_s, (50, 100 * TAIL), method="inverted_cdf")
    return Times(float(times_s.mean()), float(p50), float(p99))
