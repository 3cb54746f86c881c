"""Shockwave's six pairs, and Muri's cluster against our simulation, as SciPy has their figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from harness.experiments.reproduce.muri_cluster import MEASURED_OVERHEADS, replay
from harness.experiments.reproduce.recipes.shockwave_fidelity import RECIPE
from harness.fidelity.analysis import ArmFidelity, analyse
from harness.fidelity.bootstrap import RESAMPLES, SEED
from harness.fidelity.inputs.read import read_results
from harness.report.fidelity.article import article_of
from harness.report.page import page_of
from tests.unit.harness.report.page import Page
from traces.formats.muri_trace import read_muri_trace

REAL_DATA = Path(__file__).parents[5] / "shared" / "data"
SHOCKWAVE, MURI = REAL_DATA / "shockwave", REAL_DATA / "muri" / "cluster_exp"
POLLUX = REAL_DATA / "pollux" / "results-jobload"

pytestmark = pytest.mark.data


def needed(folder: Path) -> Path:
    if not folder.is_dir():
        pytest.skip("the real traces are not beside this checkout")
    return folder


def agrees_with_scipy(arm: ArmFidelity, reference_s: np.ndarray, prediction_s: np.ndarray) -> None:
    """Everything that is said of an arm, from two arrays in the same order."""
    rng = np.random.default_rng(SEED)
    estimates, errors = arm.estimates, prediction_s / reference_s - 1
    interval = stats.bootstrap(
        (reference_s, prediction_s),
        lambda r, p, axis=-1: p.mean(axis=axis) / r.mean(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=rng,
    ).confidence_interval
    assert estimates.reference.mean == pytest.approx(reference_s.mean())
    assert estimates.prediction.mean == pytest.approx(prediction_s.mean())
    assert estimates.mean.interval == pytest.approx(tuple(interval), rel=1e-9)
    for times, times_s in (
        (estimates.reference, reference_s),
        (estimates.prediction, prediction_s),
    ):
        # The least time that 99 in 100 do not exceed.
        assert stats.percentileofscore(times_s, times.p99, kind="weak") >= 99
        assert stats.percentileofscore(times_s, times.p99, kind="strict") < 99
    assert arm.errors.bias == pytest.approx(errors.mean())
    assert arm.errors.mape == pytest.approx(np.abs(errors).mean())
    assert arm.errors.p95 == pytest.approx(np.percentile(np.abs(errors), 95))
    limits = stats.norm.interval(0.95, np.log1p(errors).mean(), np.log1p(errors).std(ddof=1))
    assert arm.errors.agreement is not None
    assert arm.errors.agreement[::2] == pytest.approx(tuple(np.exp(limits)))
    assert arm.distances.ks == pytest.approx(stats.ks_2samp(reference_s, prediction_s).statistic)
    assert arm.distances.wasserstein_s == pytest.approx(
        stats.wasserstein_distance(reference_s, prediction_s)
    )


def test_shockwave_is_as_scipy_has_it_also_on_the_page() -> None:
    folder = needed(SHOCKWAVE)
    found = analyse(
        read_results(str(folder / "*_physical.csv"), "reference"),
        read_results(str(folder / "*_simulation.csv"), "prediction"),
    )
    assert len(found.arms) == 6
    means = {}
    for arm in found.arms:
        reference_s, prediction_s = (
            pd.read_csv(folder / f"{arm.arm}_{side}.csv")["jct_s"].to_numpy()
            for side in ("physical", "simulation")
        )
        agrees_with_scipy(arm, reference_s, prediction_s)
        kendall = stats.kendalltau(reference_s, prediction_s).statistic
        assert arm.ranks is not None
        assert arm.ranks.kendall == pytest.approx(kendall)
        means[arm.arm] = (reference_s.mean(), prediction_s.mean())
    (decision,) = found.decisions
    assert list(decision.reference) == sorted(means, key=lambda arm: means[arm][0])
    assert list(decision.prediction) == sorted(means, key=lambda arm: means[arm][1])
    page = Page(page_of({"v": article_of(found, "v")}))
    drawn = page.data()["v_ratios-jct.csv"].query("statistic == 'mean'").set_index("arm")["ratio"]
    for arm_name, (reference_mean_s, prediction_mean_s) in means.items():
        assert drawn[arm_name] == pytest.approx(prediction_mean_s / reference_mean_s, rel=1e-6)


def test_muris_cluster_against_our_simulation(tmp_path: Path) -> None:
    """What the page says of the recipe's run with overheads: its queueing and running, too."""
    folder = needed(MURI)
    trace = read_muri_trace(folder / "trace-data" / "cluster_trace.csv")
    ours = replay(trace, "srtf", MEASURED_OVERHEADS)
    prediction = trace.jobs[["job", "submit_s"]].assign(jct_s=ours.jct_s.to_numpy())
    prediction["finish_s"] = prediction["submit_s"] + prediction["jct_s"]
    prediction.to_csv(tmp_path / "srtf.csv", index=False)
    found = analyse(
        read_results(str(folder / "results" / "SRTF" / "job.csv"), "reference"),
        read_results(str(tmp_path / "srtf.csv"), "prediction"),
    )
    (arm,) = found.arms
    order = arm.pairs.table["job"].astype(int)
    measured = pd.read_csv(folder / "results" / "SRTF" / "job.csv").set_index("job_id")["JCT"]
    simulated = prediction.assign(job_id=prediction["job"].astype(int)).set_index("job_id")["jct_s"]
    agrees_with_scipy(arm, measured.loc[order].to_numpy(), simulated.loc[order].to_numpy())
    assert arm.estimates.reference.mean == pytest.approx(249_140.176953)
    assert abs(arm.estimates.mean.value - 1) < 0.01
    assert arm.statement == "equivalent"
    assert arm.makespan is not None
    assert arm.makespan.reference_s == pytest.approx(4_156_633.262890, rel=1e-6)


def test_pollux_results_are_read() -> None:
    folder = needed(POLLUX)
    found = analyse(
        read_results(str(folder / "tiresias-1.0" / "summary.json"), "reference"),
        read_results(str(folder / "pollux-1.0" / "summary.json"), "prediction"),
    )
    (arm,) = found.arms
    assert arm.errors.pairs == 8 * 160


def test_the_recipe_finds_the_published_errors() -> None:
    needed(SHOCKWAVE)
    made = RECIPE.run(REAL_DATA, None, lambda _: None)
    expected = [figure for figure in made.figures if figure.expected is not None]
    assert len(expected) == 6
    assert all(figure.ok for figure in expected)
    same = next(f for f in made.figures if f.name.startswith("pairs of schedulers"))
    assert same.ours == 1.0
