"""Named distributions, and jobs whose properties are independent.

Statistical tests: see chances.py; all of this file fail wrongly in fewer than 1 of 10,000 cases.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.unit.traces.chances import Floats, assert_counts, assert_distribution, assert_mean
from traces.generators.durations import (
    Constant,
    Durations,
    Exponential,
    LogNormal,
    LogUniform,
    PhillyDerived,
    Uniform,
    parse_durations,
)
from traces.generators.job_mix import GPU_MIXES, JobMix, poisson_jobs, static_jobs
from traces.generators.models import ClassSplit
from traces.job_trace_file import read_trace, write_trace
from traces.sensitivity import builtin_sensitivities

SYNERGY = builtin_sensitivities("synergy")
SPLIT = ClassSplit({"image": 20.0, "speech": 10.0}, SYNERGY)
MIX = JobMix(Exponential(7200.0), {1: 0.7, 8: 0.3}, SPLIT)
MANY = 20_000

LAWS: dict[str, tuple[Durations, Callable[[Floats], Floats], float]] = {
    "exponential:mean=2h": (Exponential(7200.0), stats.expon(scale=7200).cdf, 7200.0),
    "log-normal:median=30min,sigma=0.5": (
        LogNormal(1800.0, 0.5),
        stats.lognorm(0.5, scale=1800).cdf,
        float(stats.lognorm(0.5, scale=1800).mean()),
    ),
    "uniform:most=3h,least=1h": (Uniform(3600.0, 10800.0), stats.uniform(3600, 7200).cdf, 7200.0),
    "log-uniform:least=1min,most=1h": (
        LogUniform(60.0, 3600.0),
        stats.loguniform(60, 3600).cdf,
        float(stats.loguniform(60, 3600).mean()),
    ),
}
"""By text: the distribution, and from elsewhere its cumulative distribution and its mean."""


def generators() -> tuple[np.random.Generator, np.random.Generator]:
    return np.random.default_rng(5), np.random.default_rng(6)


@pytest.mark.parametrize("text", list(LAWS))
def test_durations_are_those_of_the_named_distribution(text: str) -> None:
    durations, cdf, mean_s = LAWS[text]
    assert parse_durations(text) == durations
    assert durations.mean_s == pytest.approx(mean_s, rel=1e-9)
    assert_distribution(durations.draw(MANY, *generators()), cdf)


def test_a_constant_is_the_same_for_all() -> None:
    durations = parse_durations("constant:value=1.5 h")
    assert durations == Constant(5400.0)
    assert durations.draw(3, *generators()).tolist() == [5400.0] * 3


def test_the_mixture_of_gavel_has_a_name() -> None:
    assert parse_durations("philly-derived") == PhillyDerived()


@pytest.mark.parametrize("text", [*LAWS, "philly-derived", "constant:value=1h"])
def test_a_longer_draw_begins_with_the_shorter_one(text: str) -> None:
    durations = parse_durations(text)
    few, more = (durations.draw(count, *generators()) for count in (10, 1000))
    assert few.tolist() == more[:10].tolist()


@pytest.mark.parametrize(
    ("text", "problem", "allowed"),
    [
        ("normal:mean=2h", "is no distribution of durations", "exponential:mean=..."),
        ("", "is no distribution of durations", "philly-derived"),
        ("exponential", "has other parameters", "exponential:mean=..."),
        ("exponential:median=2h", "has other parameters", "exponential:mean=..."),
        ("exponential:mean=2h,mean=3h", "has other parameters", "exponential:mean=..."),
        ("exponential:mean=2h,", "has other parameters", "exponential:mean=..."),
        ("philly-derived:mean=2h", "has other parameters", "philly-derived"),
        ("exponential:mean=2", "is not a number with a unit", "such as '300 s'"),
        ("exponential:mean=0s", "mean is '0s'", "above 0 s"),
        ("exponential:mean=1e13s", "mean is '1e13s'", "at most 1e+12 s"),
        ("exponential:mean=2GB", "is not a unit of this quantity", "a time"),
        ("uniform:least=2h,most=1h", "most is '1h'", "more than least"),
        ("log-normal:median=1h,sigma=wide", "sigma is 'wide'", "at most 5"),
        ("log-normal:median=1h,sigma=6", "sigma is '6'", "at most 5"),
        ("log-normal:median=1h,sigma=nan", "sigma is 'nan'", "above 0"),
    ],
)
def test_what_is_no_distribution_is_refused(text: str, problem: str, allowed: str) -> None:
    with pytest.raises(ValueError, match=r"\|") as caught:
        parse_durations(text)
    said, _, remedy = str(caught.value).partition("|")
    assert problem in said
    assert allowed in remedy


def test_gaps_gpus_and_models_are_those_of_the_mix() -> None:
    jobs = poisson_jobs(MIX, MANY, 6.0, seed=1).jobs
    gaps_s = np.diff(jobs["submit_s"].to_numpy(), prepend=0.0)
    assert_distribution(gaps_s, stats.expon(scale=600.0).cdf)
    numbers, counts = np.unique(jobs["num_gpus"], return_counts=True)
    assert numbers.tolist() == [1, 8]
    assert_counts(counts, np.array([0.7, 0.3]))
    by_kind = [jobs["model"].isin(SYNERGY.kinds[kind]).sum() for kind in ("image", "speech")]
    assert sum(by_kind) == MANY
    assert_counts(np.array(by_kind), np.array([20.0, 10.0]))


def test_the_gpu_time_that_is_asked_for_is_the_load() -> None:
    rate = MIX.jobs_per_hour_at(0.8, 64)
    assert rate == pytest.approx(0.8 * 64 / (2 * (0.7 + 0.3 * 8)))
    jobs = poisson_jobs(MIX, MANY, rate, seed=1).jobs
    gpu_s = (jobs["duration_s"] * jobs["num_gpus"]).to_numpy()
    second_moment = 2 * 7200.0**2 * (0.7 + 0.3 * 64)
    mean = 7200 * 3.1
    assert_mean(gpu_s, mean, np.sqrt(second_moment - mean**2))


def test_jobs_that_are_all_at_once_are_those_that_come_one_by_one() -> None:
    static, poisson = static_jobs(MIX, 200, seed=4), poisson_jobs(MIX, 200, 30.0, seed=4)
    assert (static.jobs["submit_s"] == 0).all()
    pd.testing.assert_frame_equal(
        static.jobs.drop(columns="submit_s"), poisson.jobs.drop(columns="submit_s")
    )


def test_another_distribution_changes_nothing_else() -> None:
    other = JobMix(Uniform(60.0, 120.0), MIX.gpus, SPLIT)
    first, second = (poisson_jobs(mix, 200, 30.0, seed=4).jobs for mix in (MIX, other))
    pd.testing.assert_frame_equal(
        first.drop(columns="duration_s"), second.drop(columns="duration_s")
    )


def test_a_longer_trace_begins_with_the_shorter_one() -> None:
    few, more = (poisson_jobs(MIX, count, 30.0, seed=4).jobs for count in (30, 3000))
    pd.testing.assert_frame_equal(few, more.head(30))


def test_a_trace_says_how_it_was_made() -> None:
    words = (
        "durations exponential with a mean of 7200 s, GPUs 1: 0.7, 8: 0.3, split image 20, "
        "speech 10, seed 4"
    )
    made = poisson_jobs(MIX, 5, 30.0, seed=4)
    assert made.source == f"Poisson arrivals, 30 an hour, {words}"
    assert (made.format, made.read, made.notes) == ("generated", 5, ())
    assert static_jobs(MIX, 5, seed=4).source == f"all jobs at once, {words}"
    assert "without models" in static_jobs(JobMix(Constant(60), GPU_MIXES["single"]), 5, 1).source


def test_the_same_seed_makes_the_same_file(tmp_path: Path) -> None:
    for name, seed in (("first", 4), ("again", 4), ("other", 5)):
        write_trace(poisson_jobs(MIX, 500, 30.0, seed), tmp_path / name)
    first, again, other = ((tmp_path / name).read_bytes() for name in ("first", "again", "other"))
    assert first == again
    assert first != other
    assert read_trace(tmp_path / "first").jobs.equals(poisson_jobs(MIX, 500, 30.0, 4).jobs)
