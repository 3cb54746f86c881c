"""Means and ratios over seeds, and how they stand beside published values."""

from __future__ import annotations

import pytest

from harness.experiments.intervals import Interval
from harness.experiments.reproduce.comparisons import (
    Published,
    curve,
    figure,
    joined,
    mean_of,
    not_made,
    ran_dry_note,
    ratio_of,
)
from harness.experiments.reproduce.simulated import Runs, Simulated
from tests.unit.harness.experiments.reproduce.tiny import made_up


def mean_h(run: Simulated) -> float:
    return run.mean_h


@pytest.fixture
def runs() -> Runs[str]:
    return Runs(
        {
            "slow": {1: made_up(8.0, policy="las"), 2: made_up(18.0, policy="las")},
            "fast": {1: made_up(4.0, policy="las"), 2: made_up(2.0), 3: made_up(9.0)},
        },
        interrupted=False,
    )


def test_a_mean_is_over_all_seeds_of_its_arm(runs: Runs[str]) -> None:
    interval = mean_of(runs, "fast", mean_h)
    assert interval is not None
    assert (interval.value, interval.seeds) == (pytest.approx(5.0), 3)
    assert mean_of(runs, "other", mean_h) is None


def test_a_ratio_is_paired_by_seed(runs: Runs[str]) -> None:
    interval = ratio_of(runs, "slow", "fast", mean_h)
    assert interval is not None
    assert interval.value == pytest.approx((2.0 * 9.0) ** 0.5)
    assert interval.seeds == 2
    assert ratio_of(runs, "slow", "other", mean_h) is None


def test_a_figure_has_the_interval_and_the_published_value() -> None:
    published = Published(2.0, 0.3, "a paper")
    made = figure("speed-up", "x", Interval(2.5, 2.0, 3.0, 4), published, "why")
    assert (made.interval, made.ok, made.source) == ((2.0, 3.0), True, "a paper")
    alone = figure("speed-up", "x", Interval(2.5, None, None, 1))
    assert (alone.interval, alone.ok) == (None, None)
    missing = not_made("speed-up", "x", published, "no file")
    assert (missing.ours, missing.ok, missing.note) == (None, False, "no file")


def test_a_curve_has_intervals_where_all_its_points_have_one() -> None:
    one, several = Interval(1.0, None, None, 1), Interval(2.0, 1.5, 2.5, 3)
    whole = curve("c", [(1.0, several), (2.0, None), (3.0, several)])
    assert whole is not None
    assert (whole.x, whole.y, whole.low, whole.high) == (
        (1.0, 3.0), (2.0, 2.0), (1.5, 1.5), (2.5, 2.5),
    )  # fmt: skip
    part = curve("c", [(1.0, several), (2.0, one)])
    assert part is not None
    assert (part.y, part.low) == ((2.0, 1.0), None)
    assert curve("c", [(1.0, None)]) is None


def test_it_is_said_where_arrivals_ended_too_early(runs: Runs[str]) -> None:
    assert ran_dry_note(runs, "slow", "fast").startswith("in 3 of 5 runs")
    assert ran_dry_note(Runs({"a": {1: made_up(9.0)}}, interrupted=False), "a") == ""


def test_notes_that_say_nothing_are_left_out() -> None:
    assert joined("", "one", "", "two") == "one; two"
