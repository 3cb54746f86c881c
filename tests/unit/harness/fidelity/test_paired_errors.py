"""Errors of pairs, distances and ranks: by hand, and as SciPy has them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from harness.fidelity.bootstrap import RESAMPLES, SEED
from harness.fidelity.estimates import LEAST_SEEDS, estimate, makespan
from harness.fidelity.inputs.results import Results, together
from harness.fidelity.paired_errors import distances, paired_errors, rank_agreement
from harness.fidelity.pairs import pair
from tests.unit.harness.fidelity.scipy_figures import Drawn, of_means
from tests.unit.harness.fidelity.sides import iterations_side, pairs_of, side, synthetic


def test_errors_by_hand() -> None:
    found = paired_errors(pairs_of([100, 100, 300], [110, 80, 300]))
    assert found.pairs == 3
    assert found.bias == pytest.approx(-0.1 / 3)
    assert found.median == pytest.approx(0.0)
    assert found.mape == pytest.approx(0.1)
    assert found.p95 == pytest.approx(0.19)
    assert found.most == pytest.approx(0.2)


def test_errors_as_scipy_has_them() -> None:
    reference_s, prediction_s = synthetic(1, 150, 0.1, 0.3, 0.3)
    pairs = pairs_of(reference_s, prediction_s)
    ratio = prediction_s / reference_s
    found = paired_errors(pairs)
    assert found.agreement is not None
    low, middle, high = found.agreement
    logs = stats.norm.interval(0.95, np.log(ratio).mean(), np.log(ratio).std(ddof=1))
    assert (low, high) == pytest.approx(tuple(np.exp(logs)))
    assert middle == pytest.approx(stats.gmean(ratio))
    assert found.within_limits == pytest.approx(np.mean((ratio >= low) & (ratio <= high)))
    interval = stats.bootstrap(
        (ratio - 1,), np.mean, n_resamples=RESAMPLES, rng=np.random.default_rng(SEED)
    ).confidence_interval
    assert found.bias_interval == pytest.approx(tuple(interval), rel=1e-9)
    apart = distances(pairs)
    assert apart.ks == pytest.approx(stats.ks_2samp(reference_s, prediction_s).statistic)
    wasserstein_s = stats.wasserstein_distance(reference_s, prediction_s)
    assert apart.wasserstein_s == pytest.approx(wasserstein_s)
    assert apart.wasserstein_share == pytest.approx(wasserstein_s / reference_s.mean())
    ranks = rank_agreement(pairs)
    assert ranks is not None
    assert ranks.by == "jct_s"
    assert ranks.kendall == pytest.approx(stats.kendalltau(reference_s, prediction_s).statistic)
    assert ranks.spearman == pytest.approx(stats.spearmanr(reference_s, prediction_s).statistic)


def test_jobs_are_ranked_by_their_ends_where_these_are_known() -> None:
    """All take as long, and end in the other order."""
    jct_s = [10.0, 10.0, 10.0]
    (pairs,) = pair(
        side({"a": jct_s}, submit_s=[0.0, 5.0, 9.0], finish_s=[10.0, 15.0, 19.0]),
        side({"a": jct_s}, submit_s=[9.0, 5.0, 0.0], finish_s=[19.0, 15.0, 10.0]),
    ).arms
    ranks = rank_agreement(pairs)
    assert ranks is not None
    assert (ranks.by, ranks.kendall, ranks.spearman) == ("finish_s", -1.0, -1.0)


def test_a_makespan_runs_from_the_first_submission_to_the_last_end() -> None:
    (pairs,) = pair(
        side({"a": [10.0, 20.0]}, submit_s=[5.0, 10.0], finish_s=[15.0, 30.0]),
        side({"a": [30.0, 20.0]}, submit_s=[5.0, 10.0], finish_s=[35.0, 30.0]),
    ).arms
    found = makespan(pairs)
    assert found is not None
    assert (found.reference_s, found.prediction_s, found.seeds) == (25.0, 30.0, 1)
    assert found.ratio.value == pytest.approx(1.2)
    assert (found.ratio.interval, found.ratio.narrow) == (None, None)
    assert found.no_interval is not None
    assert "one number of a whole run" in found.no_interval
    assert makespan(pairs_of([1, 2], [1, 2])) is None


def test_a_makespans_interval_is_over_seeds_in_pairs() -> None:
    """Its ends are SciPy's, of the spans of whole runs."""
    rng = np.random.default_rng(4)
    spans_s = rng.lognormal(8, 0.1, LEAST_SEEDS)
    predicted_s = spans_s * rng.lognormal(0.02, 0.03, LEAST_SEEDS)

    def runs(lasting_s: np.ndarray) -> Results:
        parts = [
            side(
                {"a": [span_s / 2, span_s]}, str(seed), submit_s=0.0, finish_s=[span_s / 2, span_s]
            )
            for seed, span_s in enumerate(lasting_s)
        ]
        return together("all seeds", parts)

    (pairs,) = pair(runs(spans_s), runs(predicted_s)).arms
    found = makespan(pairs)
    assert found is not None
    assert found.ratio.value == pytest.approx(predicted_s.mean() / spans_s.mean())
    runs_drawn = {
        seed: pd.DataFrame({"reference": [span_s], "prediction": [predicted]})
        for seed, (span_s, predicted) in enumerate(zip(spans_s, predicted_s, strict=True))
    }
    ends = Drawn(runs_drawn).intervals(of_means)
    assert found.ratio.interval == pytest.approx(ends[:2], rel=1e-9)
    assert found.ratio.narrow == pytest.approx(ends[2:], rel=1e-9)
    assert found.no_interval is None
    (fewer,) = pair(runs(spans_s[1:]), runs(predicted_s[1:])).arms
    without = makespan(fewer)
    assert without is not None
    assert without.ratio.interval is None
    assert str(LEAST_SEEDS) in str(without.no_interval)


def test_iterations_are_drawn_in_blocks_and_have_no_ranks() -> None:
    """One slow wave in 100 iterations: ten blocks, whose means are far less alike than if the
    iterations were drawn one by one."""
    wave = 1 + 0.2 * np.sin(np.linspace(0, 2 * np.pi, 100))
    (pairs,) = pair(iterations_side("a", np.ones(100)), iterations_side("a", wave)).arms
    assert pairs.units == 10
    found = estimate(pairs)
    assert found.mean.value == pytest.approx(wave.mean())
    assert found.mean.interval is not None
    width = found.mean.interval[1] - found.mean.interval[0]
    one_by_one = stats.bootstrap((wave,), np.mean, rng=1).confidence_interval
    assert width > 2 * (one_by_one.high - one_by_one.low)
    assert rank_agreement(pairs) is None
    assert found.statement(0.05) == "undecided"
