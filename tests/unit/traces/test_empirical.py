"""Resampled traces keep the rate of each hour, and jobs as they are.

Statistical tests: see chances.py; all of this file fail wrongly in fewer than 1 of 10,000 cases.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.unit.traces.chances import Floats, assert_counts, assert_distribution, assert_poisson
from traces.errors import BadInputError
from traces.formats.philly_csv import read_philly_csv
from traces.generators.empirical import MAX_JOBS, EmpiricalJobs
from traces.generators.models import ClassSplit
from traces.generators.repeating_rate import PERIODS, Period, RepeatingRate, repeating_rate
from traces.hours_of_week import HOUR_S
from traces.job_trace import JOB_COLUMNS, JobTrace, checked_trace
from traces.sensitivity import builtin_sensitivities

REAL_FILE = Path(__file__).parents[4] / "shared" / "data" / "philly" / "philly.csv"

WEEK_H = 168
WEEKS = 3
DAY_S = 24 * HOUR_S
WEDNESDAY = "2026-01-07T05:30:00"
PHASE_H = 2 * 24 + 5.5
SPLIT = ClassSplit({"image": 1.0}, builtin_sensitivities("synergy"))


def jobs_of_hour(hour_of_week: int) -> int:
    """None at night, four by day and one at weekends."""
    day, hour = divmod(hour_of_week, 24)
    return 0 if hour < 6 else 1 if day >= 5 else 4


EACH_WEEK = np.array([jobs_of_hour(hour) for hour in range(WEEK_H)])


def trace(began: str | None = WEDNESDAY, *, models: int = 0) -> JobTrace:
    """Three weeks and no longer: the first job is at their beginning, the last at their end.

    models: how many of the jobs, the first ones, have a model.
    """
    times = [
        (week * WEEK_H + h + (place + 0.5) / count - PHASE_H) * HOUR_S
        for week in range(WEEKS + 1)
        for h, count in enumerate(EACH_WEEK.tolist())
        for place in range(count)
    ]
    end_s = WEEKS * WEEK_H * HOUR_S
    submit_s = np.array([0.0, *(t for t in times if 0 < t < end_s), end_s])
    number = np.arange(len(submit_s))
    return checked_trace(
        pd.DataFrame(
            {
                "job": [f"source-{n}" for n in number],
                "submit_s": submit_s,
                "num_gpus": number % 3 + 1,
                "duration_s": 60.0 + number,
                "user": [f"user-{n % 7}" for n in number],
                "model": pd.array([f"model-{n}" if n < models else None for n in number], "string"),
                "queue_s": 5.0,
                "state": "completed",
                "line": number + 1,
            }
        ),
        source="a file",
        format="made",
        began=began,
    )


def empirical(
    period: Period = "week", *, same_hour: bool = False, source: JobTrace | None = None
) -> EmpiricalJobs:
    return EmpiricalJobs.of(source or trace(), period, same_hour=same_hour)


def rows_in_source(jobs: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The job of ``trace`` that each is a copy of, told by its duration."""
    return (jobs["duration_s"].to_numpy() - 60).astype(np.int64)


def test_the_rate_of_an_hour_is_its_jobs_by_the_time_it_was_seen() -> None:
    rate = repeating_rate(trace(), "week")
    expected = EACH_WEEK.astype(float)
    # The week begins amid an hour of the night, with the first job and the last.
    expected[int(PHASE_H)] += 2 / WEEKS
    np.testing.assert_allclose(rate.per_s * HOUR_S, expected)
    assert rate.phase_s == PHASE_H * HOUR_S
    assert rate.jobs_per_hour == pytest.approx(expected.mean())


def test_hours_are_those_of_utc_where_the_trace_has_an_offset() -> None:
    assert repeating_rate(trace("2026-01-07T07:30:00+02:00"), "week").phase_s == PHASE_H * HOUR_S


@pytest.mark.parametrize(("period", "length_s"), [("day", 1.3 * DAY_S), ("week", 12.1 * DAY_S)])
def test_an_hour_that_was_seen_less_often_counts_for_less(period: Period, length_s: float) -> None:
    whole = trace()
    jobs = whole.jobs[whole.jobs["submit_s"] <= length_s]
    part = checked_trace(jobs, source="", format="made", began=WEDNESDAY)
    hours = PERIODS[period]
    end_s = float(jobs["submit_s"].iloc[-1])
    seconds = np.arange(0.5, end_s, 1.0)  # the ends of hours lie on whole seconds

    def by_hour(time_s: Floats) -> Floats:
        hour = ((time_s / HOUR_S + PHASE_H) % hours).astype(int)
        return np.bincount(hour, minlength=hours).astype(float)

    expected = by_hour(jobs["submit_s"].to_numpy()) / by_hour(seconds)
    np.testing.assert_allclose(repeating_rate(part, period).per_s, expected, rtol=1e-3)


@pytest.mark.parametrize("phase_s", [0.0, 1234.5, PHASE_H * HOUR_S, WEEK_H * HOUR_S - 1])
def test_times_are_those_at_which_so_many_arrivals_are_expected(phase_s: float) -> None:
    rate = RepeatingRate(EACH_WEEK / HOUR_S, phase_s)
    expected = np.sort(np.random.default_rng(1).uniform(0, 5000, 1000))
    times_s, hours = rate.times(expected)
    assert (np.diff(times_s) >= 0).all()
    assert (EACH_WEEK[hours] > 0).all()
    assert hours.tolist() == rate.hours(times_s).tolist()
    again = [rate.expected(float(time_s)) for time_s in times_s]
    np.testing.assert_allclose(again, expected, rtol=1e-9, atol=1e-6)


def test_arrivals_follow_the_hour_of_the_week() -> None:
    source = empirical()
    length_s = 100 * WEEK_H * HOUR_S
    submit_s = source.draw(7, length_s=length_s).jobs["submit_s"].to_numpy()
    assert_poisson(len(submit_s), source.rate.expected(length_s))
    counts = np.bincount(source.rate.hours(submit_s), minlength=WEEK_H)
    busy = source.rate.per_s > 0
    assert counts[~busy].sum() == 0
    assert_counts(counts[busy], source.rate.per_s[busy])
    inside = (submit_s / HOUR_S + PHASE_H) % 1
    assert_distribution(inside, stats.uniform.cdf)


@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_arrivals_of_one_rate_are_those_of_a_poisson_process(factor: float) -> None:
    source = empirical("none")
    jobs = source.draw(7, factor=factor, count=20_000).jobs
    gaps_s = np.diff(jobs["submit_s"].to_numpy(), prepend=0.0)
    mean_s = HOUR_S / source.rate.jobs_per_hour / factor
    assert_distribution(gaps_s, stats.expon(scale=mean_s).cdf)


def test_every_job_of_the_trace_is_as_likely_and_is_copied_as_it_is() -> None:
    source = trace()
    jobs = empirical().draw(7, count=40_000).jobs
    rows = rows_in_source(jobs)
    assert_counts(np.bincount(rows, minlength=len(source.jobs)), np.ones(len(source.jobs)))
    given = {"job", "submit_s", "line", "queue_s"}
    same = [name for name in JOB_COLUMNS if name not in given]
    pd.testing.assert_frame_equal(
        jobs[same], source.jobs[same].iloc[rows].reset_index(drop=True), check_exact=True
    )
    assert jobs["job"].head(2).tolist() == ["job-0", "job-1"]
    assert (jobs["line"] == 0).all()
    assert jobs["queue_s"].isna().all()


@pytest.mark.parametrize("period", ["week", "day"])
def test_jobs_can_be_those_of_the_same_hour(period: Period) -> None:
    source = trace()
    made = empirical(period, same_hour=True)
    jobs = made.draw(7, count=40_000).jobs
    rows = rows_in_source(jobs)
    hours = made.rate.hours(source.jobs["submit_s"].to_numpy())
    assert (hours[rows] == made.rate.hours(jobs["submit_s"].to_numpy())).all()
    for hour in (int(PHASE_H) % PERIODS[period], 12):  # one with few jobs, one with many
        of_hour = np.flatnonzero(hours == hour)
        assert_counts(np.bincount(rows, minlength=len(hours))[of_hour], np.ones(len(of_hour)))


def test_jobs_of_all_hours_come_at_any() -> None:
    made = empirical()
    jobs = made.draw(7, count=1000).jobs
    of_row = made.rate.hours(trace().jobs["submit_s"].to_numpy())[rows_in_source(jobs)]
    assert (of_row == made.rate.hours(jobs["submit_s"].to_numpy())).mean() < 0.1


@pytest.mark.parametrize("same_hour", [False, True])
@pytest.mark.parametrize("period", list(PERIODS))
def test_the_load_of_a_whole_number_of_weeks_is_that_of_the_trace(
    period: Period, same_hour: bool
) -> None:
    jobs = trace().jobs
    asked_gpu_s = (jobs["duration_s"] * jobs["num_gpus"]).sum()
    found = empirical(period, same_hour=same_hour).offered_gpus()
    assert found == pytest.approx(asked_gpu_s / (WEEKS * WEEK_H * HOUR_S), rel=1e-9)


def test_a_load_is_of_iterations_where_their_time_is_known() -> None:
    source = trace()
    jobs = source.jobs.assign(iterations=source.jobs["duration_s"] * 4, iteration_s=0.5)
    twice = checked_trace(jobs, source="", format="made", began=WEDNESDAY)
    found = empirical(source=twice).offered_gpus()
    assert found == pytest.approx(2 * empirical().offered_gpus())


def test_at_twice_the_rate_the_same_jobs_come_sooner() -> None:
    made = empirical()
    own, twice = made.draw(7, count=2000).jobs, made.draw(7, factor=2.0, count=2000).jobs
    pd.testing.assert_frame_equal(
        own.drop(columns="submit_s"), twice.drop(columns="submit_s"), check_exact=True
    )
    expected = [made.rate.expected(float(time_s)) for time_s in own["submit_s"]]
    sooner = [made.rate.expected(float(time_s)) for time_s in twice["submit_s"]]
    np.testing.assert_allclose(2 * np.array(sooner), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("same_hour", [False, True])
def test_a_longer_trace_begins_with_the_shorter_one(same_hour: bool) -> None:
    made = empirical(same_hour=same_hour)
    long = made.draw(7, factor=20.0, length_s=2 * WEEK_H * HOUR_S).jobs
    assert len(long) > 10_000  # drawn in several blocks
    few = made.draw(7, factor=20.0, count=9000).jobs
    pd.testing.assert_frame_equal(few, long.head(9000), check_exact=True)
    week = made.draw(7, factor=20.0, length_s=WEEK_H * HOUR_S).jobs
    assert week["submit_s"].iloc[-1] <= WEEK_H * HOUR_S < long["submit_s"].iloc[len(week)]
    pd.testing.assert_frame_equal(week, long.head(len(week)), check_exact=True)
    both = made.draw(7, factor=20.0, count=10, length_s=WEEK_H * HOUR_S).jobs
    pd.testing.assert_frame_equal(both, long.head(10), check_exact=True)


def test_another_seed_makes_another_trace() -> None:
    one, other = (empirical().draw(seed, count=100).jobs for seed in (1, 2))
    assert not one["submit_s"].equals(other["submit_s"])
    assert not one["duration_s"].equals(other["duration_s"])


def test_models_are_drawn_for_jobs_that_have_none() -> None:
    source = trace(models=500)
    jobs = empirical(source=source).draw(7, count=2000, models=SPLIT).jobs
    named = rows_in_source(jobs) < 500
    assert 0 < named.sum() < len(jobs)
    assert jobs["model"][named].str.startswith("model-").all()
    assert jobs["model"][~named].isin(SPLIT.sensitivities.kinds["image"]).all()
    few = empirical(source=source).draw(7, count=50, models=SPLIT).jobs
    assert few["model"].tolist() == jobs["model"].head(50).tolist()


def test_models_that_would_change_nothing_are_refused() -> None:
    source = trace(models=10_000)
    with pytest.raises(BadInputError, match="has a model already"):
        empirical(source=source).draw(7, count=10, models=SPLIT)


def test_a_trace_says_what_it_was_drawn_from() -> None:
    made = empirical("day", same_hour=True).draw(7, factor=0.5, count=10, models=SPLIT)
    rate = 0.5 * repeating_rate(trace(), "day").jobs_per_hour
    assert made.source == (
        f"resampled from a file (made), {rate:.6g} jobs an hour (0.5 of its rate), by the hour of "
        "the day, each drawn from the same hour, split image 1 where it names no model, seed 7"
    )
    assert (made.format, made.began, made.read, made.notes) == ("generated", WEDNESDAY, 10, ())


def test_hours_count_from_the_first_job_where_no_instant_is_known() -> None:
    source = trace(None)
    made = empirical(source=source)
    assert made.rate.phase_s == 0
    drawn = made.draw(7, count=10)
    assert drawn.began is None
    assert drawn.notes == (
        "the source gives no instants: hours of the week count from its first job",
    )
    assert empirical("none", source=source).draw(7, count=10).notes == ()


@pytest.mark.parametrize(
    ("length_h", "period", "allowed"),
    [
        (167.0, "week", "a longer trace, or the period 'day', or the period 'none'"),
        (23.0, "day", "a longer trace, or the period 'none'"),
        (0.5, "none", "a longer trace"),
        (0.0, "week", "a longer trace"),
    ],
)
def test_a_trace_that_is_shorter_than_the_period_is_refused(
    length_h: float, period: Period, allowed: str
) -> None:
    frame = pd.DataFrame(
        {
            "job": ["a", "b"],
            "submit_s": [0.0, length_h * HOUR_S],
            "num_gpus": 1,
            "duration_s": 1.0,
        }
    )
    with pytest.raises(BadInputError) as caught:
        repeating_rate(checked_trace(frame, source="", format="made"), period)
    assert caught.value.allowed == allowed
    assert f"within {length_h:g} h" in caught.value.problem


def test_a_load_is_refused_where_jobs_have_no_time() -> None:
    source = trace()
    jobs = source.jobs.assign(iterations=5.0)
    jobs.loc[[0, 3], "duration_s"] = np.nan
    with pytest.raises(BadInputError) as caught:
        empirical(source=checked_trace(jobs, source="", format="made")).offered_gpus()
    assert caught.value.problem.startswith(f"of 2 of {len(jobs):,} jobs")


def test_a_length_with_too_many_jobs_or_none_is_refused() -> None:
    made = empirical()
    with pytest.raises(BadInputError, match="would arrive"):
        made.draw(7, length_s=1e12)
    with pytest.raises(BadInputError, match="would arrive"):
        made.draw(7, count=MAX_JOBS + 1)
    with pytest.raises(BadInputError, match="no job arrives"):
        made.draw(7, length_s=1e-9)


@pytest.mark.data
@pytest.mark.skipif(not REAL_FILE.is_file(), reason=f"there is no {REAL_FILE.name}")
def test_the_philly_trace_keeps_its_load_and_the_hours_of_its_week() -> None:
    source = EmpiricalJobs.of(read_philly_csv(REAL_FILE), "week", same_hour=False)
    assert source.offered_gpus() == pytest.approx(374, rel=0.01)
    length_s = 8 * WEEK_H * HOUR_S
    submit_s = source.draw(7, length_s=length_s).jobs["submit_s"].to_numpy()
    assert_poisson(len(submit_s), source.rate.expected(length_s))
    counts = np.bincount(source.rate.hours(submit_s), minlength=WEEK_H)
    assert_counts(counts, source.rate.per_s)
