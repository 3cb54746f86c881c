"""Jobs that are made up follow their formulae, and stay the same where only some things change.

The statistical tests allow five standard errors, or p-values that are as unlikely: with another
seed, or another version of numpy's generators, each of their 30 comparisons would fail wrongly in 1
of 1.7 million cases, and so all of them together in fewer than 1 of 10,000.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from tests.unit.traces.chances import STANDARD_ERRORS, assert_distribution, assert_mean
from traces.generators.durations import PhillyDerived
from traces.generators.job_mix import GPU_MIXES, mean_gpus
from traces.generators.models import draw_models
from traces.generators.philly_derived import GpuMix, jobs_per_hour_at, philly_derived
from traces.job_trace import JobTrace
from traces.sensitivity import builtin_sensitivities

SYNERGY = builtin_sensitivities("synergy")
SPLIT = {"image": 20.0, "language": 70.0, "speech": 10.0}
MANY = 100_000
MIXES: list[GpuMix] = ["single", "gavel"]


def trace(count: int, seed: int = 1, mix: GpuMix = "gavel", jobs_per_hour: float = 6.0) -> JobTrace:
    return philly_derived(count, jobs_per_hour, mix, SPLIT, SYNERGY, seed)


@pytest.fixture(scope="module")
def many() -> pd.DataFrame:
    return trace(MANY).jobs


def assert_share(flags: NDArray[np.bool_], share: float) -> None:
    assert_mean(flags.astype(float), share, np.sqrt(share * (1 - share)))


def duration_moment(power: int) -> float:
    """Mean of (a job's duration in s) ** power, by numerical integration."""

    def part(low: float, high: float) -> float:
        of_exponent = integrate.quad(lambda u: (60 * 10**u) ** power, low, high)
        return float(of_exponent[0]) / (high - low)

    return 0.8 * part(1.5, 3) + 0.2 * part(3, 4)


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize(("few", "more"), [(1, 2), (7, 50), (100, 1000)])
def test_a_longer_trace_begins_with_the_shorter_one(mix: GpuMix, few: int, more: int) -> None:
    pd.testing.assert_frame_equal(trace(few, mix=mix).jobs, trace(more, mix=mix).jobs.head(few))


def test_the_same_seed_makes_the_same_trace_and_another_one_does_not() -> None:
    pd.testing.assert_frame_equal(trace(500, seed=3).jobs, trace(500, seed=3).jobs)
    assert trace(500, seed=3).source == trace(500, seed=3).source
    other = trace(500, seed=4).jobs
    for column in ("submit_s", "duration_s", "num_gpus", "model"):
        assert not trace(500, seed=3).jobs[column].equals(other[column]), column


def test_at_another_rate_the_same_jobs_come_closer_together() -> None:
    slow, fast = trace(500, jobs_per_hour=2.0).jobs, trace(500, jobs_per_hour=8.0).jobs
    np.testing.assert_allclose(slow["submit_s"], 4 * fast["submit_s"], rtol=1e-12)
    same = ["job", "num_gpus", "duration_s", "model"]
    pd.testing.assert_frame_equal(slow[same], fast[same])


def test_another_mix_or_split_changes_nothing_else() -> None:
    gavel = trace(500).jobs
    single = philly_derived(500, 6.0, "single", {"speech": 1.0}, SYNERGY, 1).jobs
    same = ["job", "submit_s", "duration_s"]
    pd.testing.assert_frame_equal(gavel[same], single[same])
    assert set(single["num_gpus"]) == {1}


def test_a_trace_says_what_it_is() -> None:
    made = trace(20)
    assert made.jobs["job"].tolist() == [f"job-{number}" for number in range(20)]
    assert made.jobs["line"].tolist() == [0] * 20
    assert made.jobs[["iterations", "iteration_s"]].isna().all(axis=None)
    assert (made.format, made.read, made.reordered, made.notes) == ("generated", 20, 0, ())
    assert made.source == (
        "Philly-derived jobs, 6 an hour, GPU mix 'gavel', split image 20, language 70, speech 10, "
        "seed 1"
    )


def test_without_profiles_jobs_have_no_models() -> None:
    made = philly_derived(500, 6.0, "gavel", {}, None, 1)
    assert made.jobs["model"].isna().all()
    pd.testing.assert_frame_equal(
        made.jobs.drop(columns="model"), trace(500).jobs.drop(columns="model")
    )
    assert made.source == (
        "Philly-derived jobs, 6 an hour, GPU mix 'gavel', without models, seed 1"
    )


def test_the_mean_duration_is_that_of_the_formula() -> None:
    assert PhillyDerived().mean_s == pytest.approx(duration_moment(1), rel=1e-9)
    assert PhillyDerived().mean_s / 3600 == pytest.approx(16.8, abs=0.05)


def test_durations_are_those_of_the_formula(many: pd.DataFrame) -> None:
    duration_s = many["duration_s"].to_numpy()
    deviation = np.sqrt(duration_moment(2) - duration_moment(1) ** 2)
    assert_mean(duration_s, PhillyDerived().mean_s, deviation)
    exponents = np.log10(duration_s / 60)
    assert 1.5 <= exponents.min() <= exponents.max() <= 4
    assert_share(exponents < 3, 0.8)
    for low, high in ((1.5, 3.0), (3.0, 4.0)):
        part = exponents[(exponents >= low) & (exponents < high)]
        assert_distribution(part, stats.uniform(low, high - low).cdf)


def test_arrivals_are_those_of_a_poisson_process(many: pd.DataFrame) -> None:
    gaps_s = np.diff(many["submit_s"].to_numpy(), prepend=0.0)
    assert_mean(gaps_s, 600.0, 600.0)
    assert_distribution(gaps_s, stats.expon(scale=600.0).cdf)


def test_gpus_are_those_of_the_mix(many: pd.DataFrame) -> None:
    num_gpus = many["num_gpus"].to_numpy()
    assert set(num_gpus) == {1, 2, 4, 8}
    for gpus, share in ((1, 0.7), (2, 0.1), (4, 0.15), (8, 0.05)):
        assert GPU_MIXES["gavel"][gpus] == share
        assert_share(num_gpus == gpus, share)
    assert mean_gpus(GPU_MIXES["gavel"]) == pytest.approx(0.7 + 0.2 + 0.6 + 0.4)
    assert mean_gpus(GPU_MIXES["single"]) == 1


def test_durations_gpus_and_gaps_do_not_go_together(many: pd.DataFrame) -> None:
    columns = np.stack(
        [
            many["submit_s"].diff().fillna(600.0).to_numpy(),
            np.log10(many["duration_s"].to_numpy()),
            many["num_gpus"].to_numpy(dtype=float),
            many["model"].isin(SYNERGY.kinds["language"]).to_numpy(dtype=float),
        ]
    )
    correlation = np.corrcoef(columns)
    beside = correlation[~np.eye(len(columns), dtype=bool)]
    assert np.abs(beside).max() < STANDARD_ERRORS / np.sqrt(len(many))


@pytest.mark.parametrize("mix", MIXES)
def test_a_load_of_one_asks_for_as_much_gpu_time_as_there_is(mix: GpuMix) -> None:
    rate = jobs_per_hour_at(1.0, 128, mix)
    asked_gpu_s_an_hour = rate * duration_moment(1) * sum(g * s for g, s in GPU_MIXES[mix].items())
    assert asked_gpu_s_an_hour == pytest.approx(128 * 3600, rel=1e-9)
    assert jobs_per_hour_at(0.5, 128, mix) == pytest.approx(rate / 2)
    assert jobs_per_hour_at(1.0, 64, mix) == pytest.approx(rate / 2)


def test_the_load_that_comes_is_the_load_that_was_asked_for() -> None:
    rate = jobs_per_hour_at(0.8, 64, "gavel")
    jobs = trace(MANY, jobs_per_hour=rate).jobs
    asked_gpu_s = (jobs["duration_s"] * jobs["num_gpus"]).sum()
    load = asked_gpu_s / (64 * jobs["submit_s"].iloc[-1])
    # Relative variances: squared - 1 of duration x GPUs, and 1 of the time between arrivals.
    gpus_squared = sum(gpus**2 * share for gpus, share in GPU_MIXES["gavel"].items())
    squared = (
        duration_moment(2)
        * gpus_squared
        / (duration_moment(1) * mean_gpus(GPU_MIXES["gavel"])) ** 2
    )
    assert abs(load / 0.8 - 1) < STANDARD_ERRORS * np.sqrt(squared / MANY)


def test_models_are_drawn_by_class_and_evenly_inside_a_class() -> None:
    models = np.array(draw_models(MANY, SPLIT, SYNERGY, np.random.default_rng(5)))
    assert set(models) == set(SYNERGY.models)
    for kind, weight in SPLIT.items():
        of_kind = SYNERGY.kinds[kind]
        assert_share(np.isin(models, of_kind), weight / 100)
        for model in of_kind:
            assert_share(models == model, weight / 100 / len(of_kind))


def test_only_the_ratio_of_the_weights_matters() -> None:
    tenth = {kind: weight / 10 for kind, weight in SPLIT.items()}
    assert draw_models(1000, tenth, SYNERGY, np.random.default_rng(5)) == draw_models(
        1000, SPLIT, SYNERGY, np.random.default_rng(5)
    )


def test_a_class_without_a_weight_is_never_drawn() -> None:
    drawn = draw_models(1000, {"speech": 0.1}, SYNERGY, np.random.default_rng(5))
    assert set(drawn) == {"m5", "deepspeech"}


def test_a_longer_draw_begins_with_the_shorter_one() -> None:
    few = draw_models(10, SPLIT, SYNERGY, np.random.default_rng(5))
    assert draw_models(1000, SPLIT, SYNERGY, np.random.default_rng(5))[:10] == few


def test_a_class_that_no_model_is_of_is_an_error() -> None:
    with pytest.raises(KeyError, match="vision"):
        draw_models(10, {"vision": 1.0}, SYNERGY, np.random.default_rng(5))
