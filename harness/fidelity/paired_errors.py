"""How far a prediction is off, pair by pair, and as a distribution. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.fidelity.bootstrap import Floats, resample
from harness.fidelity.estimates import Estimate, of
from harness.fidelity.pair_statistics import RatioOfMeans, sums
from harness.fidelity.pairs import SIDES, Pairs

_NORMAL = 1.959963984540054  # 97.5 % of a normal distribution are below


@dataclass(frozen=True)
class PairedErrors:
    """Errors are prediction / reference - 1 of each pair.

    bias: their mean, with its 95 % interval; mape, p95, most: of their absolute values the mean,
    95th percentile and maximum. agreement: Bland and Altman's limits of the ratio, (low, middle,
    high): 95 of 100 pairs lie between low and high, if the logarithms of ratios are normally
    distributed (Bland and Altman, Statistical Methods in Medical Research 8, 1999, section 3.2).
    within_limits: the share of pairs that do.
    """

    pairs: int
    bias: float
    bias_interval: tuple[float, float] | None
    median: float
    mape: float
    p95: float
    most: float
    agreement: tuple[float, float, float] | None
    within_limits: float | None


@dataclass(frozen=True)
class Distances:
    """Between the distributions of both sides, whatever job has which time.

    ks: Kolmogorov and Smirnov's largest difference of shares. wasserstein_s: the mean difference of
    times of the same rank; wasserstein_share: of the reference's mean.
    """

    ks: float
    wasserstein_s: float
    wasserstein_share: float


@dataclass(frozen=True)
class RankAgreement:
    """Whether jobs are in the same order on both sides, from -1 to 1.

    by: ``finish_s``, the order in which they end, or ``jct_s`` where ends are not known.
    """

    by: str
    kendall: float
    spearman: float


def paired_errors(pairs: Pairs) -> PairedErrors:
    """The errors of an arm."""
    ratio = pairs.prediction_s / pairs.reference_s
    errors = ratio - 1
    sizes = np.abs(errors)
    means = RatioOfMeans(sums(ratio, pairs.unit), sums(np.ones_like(ratio), pairs.unit))
    (bias,) = resample((means,), pairs.units)
    found = of(bias)
    agreement = _agreement(np.log(ratio))
    return PairedErrors(
        pairs=len(ratio),
        bias=found.value - 1,
        bias_interval=_less_one(found),
        median=float(np.median(errors)),
        mape=float(sizes.mean()),
        p95=float(np.percentile(sizes, 95)),
        most=float(sizes.max()),
        agreement=agreement,
        within_limits=None
        if agreement is None
        else float(np.mean((ratio >= agreement[0]) & (ratio <= agreement[2]))),
    )


def _less_one(found: Estimate) -> tuple[float, float] | None:
    return None if found.interval is None else (found.interval[0] - 1, found.interval[1] - 1)


def _agreement(logs: Floats) -> tuple[float, float, float] | None:
    if len(logs) < 2:
        return None
    middle, half = float(logs.mean()), _NORMAL * float(logs.std(ddof=1))
    low, mid, high = np.exp([middle - half, middle, middle + half])
    return float(low), float(mid), float(high)


def distances(pairs: Pairs) -> Distances:
    """Between the two sides of an arm."""
    from scipy import stats  # imported here: it takes most of a second

    reference, prediction = pairs.reference_s, pairs.prediction_s
    apart_s = float(stats.wasserstein_distance(reference, prediction))
    return Distances(
        float(stats.ks_2samp(reference, prediction, method="asymp").statistic),
        apart_s,
        apart_s / float(reference.mean()),
    )


def rank_agreement(pairs: Pairs) -> RankAgreement | None:
    """None for iterations, for fewer than three jobs, and where all are alike on one side."""
    if pairs.measure != "jct_s" or len(pairs.table) < 3:
        return None
    from scipy import stats  # imported here: it takes most of a second

    ends = [f"finish_s_{side}" for side in SIDES]
    known = all(name in pairs.table for name in ends) and not pairs.table[ends].isna().any(
        axis=None
    )
    several = pairs.table["seed"].nunique() > 1
    by = "finish_s" if known and not several else "jct_s"
    reference, prediction = (pairs.column(by, side) for side in SIDES)
    if np.ptp(reference) == 0 or np.ptp(prediction) == 0:
        return None
    return RankAgreement(
        by,
        float(stats.kendalltau(reference, prediction).statistic),
        float(stats.spearmanr(reference, prediction).statistic),
    )
