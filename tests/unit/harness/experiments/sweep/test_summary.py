"""The main figure over the seeds, by values and arm, in the order of the sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from harness.experiments.sweep.plan import SweepPlan
from harness.experiments.sweep.summary import columns_of, summarise
from harness.experiments.sweep.work import Point

FIGURE = "jct_s.all.mean"
POINTS = tuple(
    Point(f"{value}-{seed}", {"a": value}, {"a": "text"}, seed, Path("s.yaml"), {}, False)
    for value in ("y", "x")
    for seed in (1, 2, 3)
)
DEFINITION = {
    "scenario": "toy", "results": "simulated", "version": "1", "keys": {"a": "text"},
}  # fmt: skip
PLAN = SweepPlan("toy", True, POINTS, (), DEFINITION)


def row(point: str, arm: str, figure: float | None, verdict: str | None = None) -> dict[str, Any]:
    return {"point": point, "arm": arm, FIGURE: figure, "verdict": verdict}


def test_means_with_intervals_in_the_order_of_the_sweep() -> None:
    rows = [
        row(f"{value}-{seed}", arm, 10.0 * seed + (arm == "second"))
        for value in ("x", "y")
        for seed in (3, 1, 2)
        for arm in ("first", "second")
    ]
    summary = summarise(PLAN, rows, {}, finished_before=2, interrupted=False)
    found = summary["results_by_values"]
    assert [(each["values"]["a"], each["arm"]) for each in found] == [
        ("y", "first"), ("y", "second"), ("x", "first"), ("x", "second"),
    ]  # fmt: skip
    interval = found[1]["interval"]
    low, high = stats.t.interval(0.95, 2, loc=21.0, scale=stats.sem([11, 21, 31]))
    assert interval["value"] == pytest.approx(21.0)
    assert (interval["low"], interval["high"]) == pytest.approx((low, high))
    assert summary["points"] == {"wanted": 6, "finished_before": 2, "finished": 6, "failed": 0}
    assert set(columns_of(PLAN)) == set(rows[0])


def test_a_seed_without_the_figure_is_not_counted_in_the_interval() -> None:
    rows = [row("y-1", "first", 5.0, "valid"), row("y-2", "first", None, "suspect")]
    summary = summarise(PLAN, rows, {"y-3": "it broke"}, finished_before=0, interrupted=True)
    (result,) = summary["results_by_values"]
    assert result["seeds"] == 2
    assert result["interval"] == {"value": 5.0, "low": None, "high": None, "seeds": 1}
    assert result["verdicts"] == {"suspect": 1, "valid": 1}
    (failed,) = summary["failed"]
    assert failed == {
        "point": "y-3",
        "values": {"a": "y"},
        "seed": 3,
        "reason": "it broke",
        "file": "failed/y-3.txt",
    }
    assert summary["points"] == {"wanted": 6, "finished_before": 0, "finished": 2, "failed": 1}
    assert summary["interrupted"] is True
