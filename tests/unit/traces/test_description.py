"""What a trace is, in figures that can be counted by hand; and those of the real Philly trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from traces.description import describe, quantiles, run_times_s
from traces.formats.traces import read_jobs
from traces.groups import Group, gini, grouped
from traces.job_trace import JobTrace, checked_trace
from traces.offered_load import offered_load

REAL_FILE = Path(__file__).parents[4] / "shared" / "data" / "philly" / "philly.csv"


def trace(began: str | None = None, **columns: list[object]) -> JobTrace:
    """Jobs of 1 GPU that run for 10 s and come every 10 s, but for ``columns``."""
    count = len(next(iter(columns.values())))
    frame = {
        "job": [f"job-{number}" for number in range(count)],
        "submit_s": [10.0 * number for number in range(count)],
        "num_gpus": [1] * count,
        "duration_s": [10.0] * count,
        **columns,
    }
    return checked_trace(pd.DataFrame(frame), source="a test", format="test", began=began)


def test_the_load_of_jobs_that_start_when_they_are_submitted() -> None:
    # 2 GPUs from 0 s to 30 s and 4 from 10 s to 15 s; the last job counts from the end on.
    found = describe(
        trace(submit_s=[0.0, 10.0, 20.0], num_gpus=[2, 4, 8], duration_s=[30.0, 5.0, 100.0])
    )
    assert (found.jobs, found.span_s, found.jobs_per_hour) == (3, 20.0, 540.0)
    assert found.gpu_time_s == 2 * 30 + 4 * 5 + 8 * 100
    assert found.offered_gpus == 880 / 20
    assert found.mean_gpus == (2 * 20 + 4 * 5) / 20
    assert found.peak_gpus == 10
    assert found.untimed == 0


def test_a_job_that_ends_when_the_next_begins_is_not_in_use_with_it() -> None:
    load = offered_load(np.array([0.0, 10.0]), np.array([10.0, 10.0]), np.array([4.0, 4.0]))
    assert load.peak_gpus == 4
    assert load.means(np.array([0.0, 5.0, 15.0, 25.0])).tolist() == [4.0, 4.0, 2.0]


def test_run_times_are_iterations_where_their_length_is_known() -> None:
    jobs = trace(
        duration_s=[10.0, 20.0, np.nan],
        iterations=[100.0, np.nan, 7.0],
        iteration_s=[0.5, np.nan, np.nan],
    ).jobs
    np.testing.assert_equal(run_times_s(jobs), [50.0, 20.0, np.nan])


def test_without_run_times_there_is_no_load() -> None:
    found = describe(trace(duration_s=[np.nan, np.nan], iterations=[5.0, 7.0]))
    assert found.untimed == 2
    assert found.run_s is None
    assert found.gpu_time_s is found.offered_gpus is found.mean_gpus is found.peak_gpus is None
    assert found.sizes == (Group("1", 2, 1.0, None),)
    assert found.iterations is not None
    assert (found.iterations.p50, found.iterations.max) == (5.0, 7.0)


def test_one_job_has_no_rates() -> None:
    found = describe(trace(began="2020-01-01T00:00:00", num_gpus=[3]))
    assert (found.jobs, found.span_s, found.peak_gpus) == (1, 0.0, 3.0)
    assert found.jobs_per_hour is found.offered_gpus is found.mean_gpus is None
    assert found.gap_s is found.pattern is None


def test_jobs_are_grouped_by_what_is_known() -> None:
    found = describe(
        trace(
            user=["a", "b", "b", None],
            state=["completed", "failed", "completed", "completed"],
            duration_s=[70.0, 10.0, 20.0, 100.0],
        )
    )
    assert found.user is not None
    assert (found.user.known, found.user.count) == (3, 2)
    assert found.user.largest == (Group("a", 1, 1 / 3, 0.7), Group("b", 2, 2 / 3, 0.3))
    assert found.user.gini == pytest.approx(0.2)
    assert found.state is not None
    assert [(each.name, each.jobs) for each in found.state.largest] == [
        ("completed", 3),
        ("failed", 1),
    ]
    assert found.virtual_cluster is found.gpu_type is found.model is None


def test_the_largest_groups_are_those_with_most_jobs_where_no_time_is_known() -> None:
    keys = pd.Series([f"user-{n}" for n in range(12)] + ["user-5"], dtype="string")
    found = grouped(keys, np.full(13, np.nan))
    assert found is not None
    assert (found.count, len(found.largest)) == (12, 10)
    assert found.largest[0] == Group("user-5", 2, 2 / 13, None)


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [([5.0], 0.0), ([2.0, 2.0, 2.0], 0.0), ([0.0, 0.0, 9.0], 2 / 3), ([0.0, 0.0], 0.0)],
)
def test_the_gini_coefficient(amounts: list[float], expected: float) -> None:
    assert gini(np.array(amounts)) == pytest.approx(expected)


def test_a_quantile_is_an_amount_that_occurs() -> None:
    found = quantiles(np.array([4.0, np.nan, 1.0, 3.0, 2.0]))
    assert found is not None
    assert (found.known, found.mean) == (4, 2.5)
    assert (found.p10, found.p50, found.p90, found.p99, found.max) == (1, 2, 4, 4, 4)
    assert quantiles(np.array([np.nan])) is None


def test_hours_and_days_count_with_the_time_that_a_trace_covers() -> None:
    # In UTC from Tuesday 23:30 to Thursday 00:30: 1.5 h of hours 23 and 0, 1 h of others.
    hours = [0.0, 0.25, 0.5, 12.0, 25.0]
    found = describe(
        trace("2024-01-03T01:30:00+02:00", submit_s=[hour * 3600 for hour in hours])
    ).pattern
    assert found is not None
    assert found.has_zone
    assert found.by_hour[23] == pytest.approx(2 / 1.5)
    assert found.by_hour[0] == pytest.approx(2 / 1.5)
    assert found.by_hour[11] == pytest.approx(1.0)
    assert found.by_hour[5] == 0.0
    assert found.by_weekday[:3] == (None, pytest.approx(4.0), pytest.approx(2 / 24))
    assert found.by_weekday[3] == pytest.approx(2.0)
    assert found.by_weekday[4:] == (None, None, None)


def test_a_steady_trace_has_the_same_rate_at_every_hour_of_every_day() -> None:
    count = 24 * 7 * 3 + 5  # jobs: one more than hours, so that one day has one too many
    found = describe(
        trace("2024-01-05T07:30:00", submit_s=[3600.0 * hour for hour in range(count)])
    ).pattern
    assert found is not None
    assert not found.has_zone
    assert found.by_weekday == pytest.approx([1.0] * 7, rel=0.02)
    assert found.by_hour == pytest.approx([1.0] * 24, rel=0.03)


def test_hours_are_not_known_without_an_instant() -> None:
    assert describe(trace(num_gpus=[1, 1])).pattern is None


@pytest.mark.data
def test_the_real_philly_trace() -> None:
    if not REAL_FILE.exists():
        pytest.skip("the real traces are not beside this checkout")
    found = describe(read_jobs(REAL_FILE))
    assert found.jobs == 82_247
    assert round(found.offered_gpus or 0) == round(found.mean_gpus or 0) == 374
    assert round(found.jobs_per_hour or 0, 1) == 31.5
    assert found.run_s is not None
    assert found.gap_s is not None
    run_s = found.run_s
    assert (run_s.p10, run_s.p50, run_s.p90, run_s.p99) == (61, 1_144, 11_266, 254_884)
    assert round(run_s.max / 86400, 1) == 53.6
    assert found.gap_s.p50 == 8
    sizes = {each.name: each for each in found.sizes}
    assert (sizes["1"].jobs, sizes["128"].jobs) == (76_627, 3)
    assert [round((sizes[size].gpu_time_share or 0) * 100, 1) for size in ("1", "8", "16")] == [
        18.1,
        48.4,
        11.5,
    ]
    assert found.virtual_cluster is not None
    assert found.virtual_cluster.count == 15
