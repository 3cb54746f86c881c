"""The figures of a validation as SciPy and pandas have them, and the page that has to say the same.

Nothing here is taken from what is tested but the seed and number of its resamples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from harness.fidelity.bootstrap import RESAMPLES, SEED
from harness.report import words
from tests.unit.harness.report.page import Page
from tests.unit.harness.report.page_tables import page_tables

Floats = NDArray[np.float64]
Statistic = Callable[[Floats, Floats], Floats]
"""Of reference and prediction, over their last axis."""

_PRINTED = 1e-5
"""Of a value, what figures and CSV files may round off."""

_EXACT = 1e-12
_DECIMALS = 11

_SIDES = {"reference": "emulated", "prediction": "simulated"}


@dataclass(frozen=True)
class Drawn:
    """An arm on both sides, by what is drawn anew as a whole: a row a pair each, and as many."""

    units: Mapping[Hashable, pd.DataFrame]

    @property
    def pairs(self) -> pd.DataFrame:
        return pd.concat(self.units.values(), ignore_index=True)

    @property
    def reference_s(self) -> Floats:
        return self.pairs["reference"].to_numpy(dtype=float)

    @property
    def prediction_s(self) -> Floats:
        return self.pairs["prediction"].to_numpy(dtype=float)

    def intervals(self, statistic: Statistic) -> tuple[float, float, float, float]:
        """The ends of SciPy's BCa intervals of 95 %, and of 90 %."""
        reference_s, prediction_s = (
            np.array([unit[side].to_numpy(dtype=float) for unit in self.units.values()])
            for side in _SIDES
        )

        def of(drawn: Floats, axis: int = -1) -> Floats:
            # Rounded, since SciPy takes draws that differ by rounding alone for different ones.
            numbers = drawn.astype(int)
            shape = (*numbers.shape[:-1], -1)
            return np.round(
                statistic(
                    reference_s[numbers].reshape(shape), prediction_s[numbers].reshape(shape)
                ),
                _DECIMALS,
            )

        numbers = np.arange(len(self.units))
        result = None
        ends: list[float] = []
        for confidence in (0.95, 0.90):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # where no draw changes anything
                result = stats.bootstrap(
                    (numbers,),
                    of,
                    vectorized=True,
                    method="BCa",
                    n_resamples=0 if result else RESAMPLES,
                    bootstrap_result=result,
                    confidence_level=confidence,
                    rng=np.random.default_rng(SEED),
                )
            ends += [float(end) for end in result.confidence_interval]
        value = float(of(numbers))
        if np.ptp(result.bootstrap_distribution) <= _EXACT * value:
            return value, value, value, value  # whatever is drawn
        return ends[0], ends[1], ends[2], ends[3]


def of_means(reference_s: Floats, prediction_s: Floats) -> Floats:
    ratio: Floats = prediction_s.mean(axis=-1) / reference_s.mean(axis=-1)
    return ratio


def of_tails(reference_s: Floats, prediction_s: Floats) -> Floats:
    above, below = (
        np.percentile(times_s, 99, axis=-1, method="inverted_cdf")
        for times_s in (prediction_s, reference_s)
    )
    ratio: Floats = above / below
    return ratio


def emulated_jobs(run: Path) -> dict[str, Drawn]:
    """By arm, jobs that count and ended on both sides; a job's seeds are drawn together."""
    both = _both(run, "jobs", ["arm", "seed", "job"], "jct_s")
    return {
        str(arm): Drawn(dict(iter(rows.groupby("job", sort=False))))
        for arm, rows in both.groupby("arm", sort=False)
    }


def emulated_iterations(run: Path) -> dict[str, Drawn]:
    """By arm, counted iterations of both sides in blocks as long as the square root of a job's."""
    both = _both(run, "iterations", ["arm", "job", "iteration"], "iteration_s")
    return {
        # In the order in which they begin in the table of the reference.
        str(arm): Drawn(dict(sorted(_blocks(rows), key=lambda block: block[1].index[0])))
        for arm, rows in both.groupby("arm", sort=False)
    }


def _blocks(rows: pd.DataFrame) -> Iterator[tuple[Hashable, pd.DataFrame]]:
    for job, own in rows.groupby("job", sort=False):
        length = int(np.ceil(np.sqrt(len(own))))
        for first in range(0, len(own), length):
            yield (job, first), own.iloc[first : first + length]


def _both(run: Path, name: str, key: list[str], measure: str) -> pd.DataFrame:
    sides = []
    for side, folder in _SIDES.items():
        rows = pd.read_parquet(run / folder / f"{name}.parquet")
        counted = rows[rows["counted"] & rows[measure].notna()]
        sides.append(counted[[*key, measure]].rename(columns={measure: side}))
    return sides[0].merge(sides[1], on=key, how="inner")


def check_page(page_text: str, arms: Mapping[str, Drawn], measure: str) -> None:
    """Every number that ``page_text`` has of ``arms``. measure: jct or iteration."""
    page = Page(page_text)
    data = {name.removeprefix("validation_"): rows for name, rows in page.data().items()}
    _check_ratios(data[f"ratios-{measure}.csv"], arms)
    _check_pairs(data[f"agreement-{measure}.csv"], arms)
    tables = page_tables(page_text)
    things = {"jct": "jobs", "iteration": "iterations"}[measure]
    _check_errors(tables[f"Errors of single {things}"], arms)
    _check_distances(tables["Distances of the distributions"], arms)
    if len(arms) > 1:
        _check_decisions(data[f"speed-ups-{measure}.csv"], arms)


def _check_ratios(drawn: pd.DataFrame, arms: Mapping[str, Drawn]) -> None:
    rows = drawn.set_index(["arm", "statistic"])
    for arm, own in arms.items():
        for name, statistic in (("mean", of_means), ("99th percentile", of_tails)):
            row = rows.loc[(arm, name)]
            ratio = statistic(own.reference_s, own.prediction_s)
            expected = [ratio, *own.intervals(statistic)]
            found = row[["ratio", "low_95", "high_95", "low_90", "high_90"]].to_list()
            assert found == pytest.approx(expected, rel=_PRINTED, nan_ok=True), (arm, name)


def _check_pairs(drawn: pd.DataFrame, arms: Mapping[str, Drawn]) -> None:
    for arm, own in arms.items():
        rows = drawn[drawn["arm"] == arm]
        for side in _SIDES:
            found = np.sort(rows[f"{side}_s"].to_numpy(dtype=float))
            assert found == pytest.approx(np.sort(own.pairs[side]), rel=_PRINTED)


def _check_errors(shown: pd.DataFrame, arms: Mapping[str, Drawn]) -> None:
    for arm, own in arms.items():
        row = shown.loc[arm]
        errors = own.prediction_s / own.reference_s - 1
        logs = np.log1p(errors)
        limits = np.exp(stats.norm.interval(0.95, logs.mean(), logs.std(ddof=1)))
        assert row["mean error"] == words.signed_percent(float(errors.mean()))
        assert row["median"] == words.signed_percent(float(np.median(errors)))
        assert row["mean size"] == words.percent(float(np.abs(errors).mean()))
        assert row["95 of 100"] == words.percent(float(np.percentile(np.abs(errors), 95)))
        assert row["largest"] == words.percent(float(np.abs(errors).max()))
        low, high = (words.number(float(limit)) for limit in limits)
        assert row["limits of agreement"] == f"x {low} to x {high}"


def _check_distances(shown: pd.DataFrame, arms: Mapping[str, Drawn]) -> None:
    for arm, own in arms.items():
        row = shown.loc[arm]
        sides = (own.reference_s, own.prediction_s)
        apart_s = stats.wasserstein_distance(*sides)
        assert row["Kolmogorov-Smirnov"] == words.number(float(stats.ks_2samp(*sides).statistic))
        assert row["of the mean"] == words.percent(float(apart_s / own.reference_s.mean()))
        if row["order of"] == "completion times":
            assert row["Kendall"] == words.significant(float(stats.kendalltau(*sides)[0]), 3)
            assert row["Spearman"] == words.significant(float(stats.spearmanr(*sides)[0]), 3)


def _check_decisions(drawn: pd.DataFrame, arms: Mapping[str, Drawn]) -> None:
    """All arms have the same jobs and as many iterations, as these tests make them."""
    keys = list(next(iter(arms.values())).units)
    means = {arm: own.reference_s.mean() for arm, own in arms.items()}
    for row in drawn.to_dict("records"):
        faster, slower = str(row["faster"]), str(row["slower"])
        assert means[faster] <= means[slower]
        for side in _SIDES:
            couple = _side_of_both(arms[faster], arms[slower], side, keys)
            ratio = of_means(couple.reference_s, couple.prediction_s)
            expected = [ratio, *couple.intervals(of_means)[:2]]
            found = [row[side], row[f"{side}_low"], row[f"{side}_high"]]
            assert found == pytest.approx(expected, rel=_PRINTED, nan_ok=True), (faster, side)


def _side_of_both(faster: Drawn, slower: Drawn, side: str, keys: Sequence[Hashable]) -> Drawn:
    """The means of each unit on one side: those of ``slower`` over those of ``faster``."""
    assert set(faster.units) == set(slower.units) == set(keys)
    means = {
        key: {
            "reference": faster.units[key][side].mean(),
            "prediction": slower.units[key][side].mean(),
        }
        for key in keys
    }
    return Drawn({key: pd.DataFrame([of_unit]) for key, of_unit in means.items()})
