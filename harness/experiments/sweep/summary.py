"""summary.json of a sweep: its main figure over the seeds, by varied values and arm. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.experiments.intervals import mean_over_seeds
from harness.experiments.sweep.dataset import failure_name
from harness.experiments.sweep.figures import ITERATIONS_FIGURE, ROUNDS_FIGURE
from harness.experiments.sweep.plan import SweepPlan
from harness.experiments.sweep.points import canonical
from harness.experiments.sweep.work import Point


def columns_of(plan: SweepPlan) -> list[str]:
    """What summarise() needs of the dataset."""
    return ["point", "arm", "verdict", figure_of(plan)]


def figure_of(plan: SweepPlan) -> str:
    """The column of the main figure."""
    return ROUNDS_FIGURE if plan.rounds else ITERATIONS_FIGURE


def summarise(
    plan: SweepPlan,
    rows: Sequence[Mapping[str, Any]],
    failures: Mapping[str, str],
    *,
    finished_before: int,
    interrupted: bool,
) -> dict[str, Any]:
    """The summary of the points of this call. rows: of those that are finished.

    failures: reasons by the id of a point. finished_before: how many were when the call began.
    An interval rests on the seeds that have the figure, and says how many these are.
    """
    figure = figure_of(plan)
    by_id = {point.id: point for point in plan.points}
    finished = {row["point"] for row in rows}
    return {
        **{key: plan.definition[key] for key in ("scenario", "results", "version")},
        "keys": list(plan.definition["keys"]),
        "interrupted": interrupted,
        "points": {
            "wanted": len(plan.points),
            "finished_before": finished_before,
            "finished": len(finished),
            "failed": len(failures),
        },
        "figure": figure,
        "results_by_values": _results(by_id, rows, figure),
        "failed": [
            {
                "point": point,
                "values": dict(by_id[point].values),
                "seed": by_id[point].seed,
                "reason": reason,
                "file": failure_name(point),
            }
            for point, reason in failures.items()
        ],
    }


def _results(
    by_id: Mapping[str, Point], rows: Sequence[Mapping[str, Any]], figure: str
) -> list[dict[str, Any]]:
    """In the order of the points; arms in the order of the scenario."""
    order = {point: place for place, point in enumerate(by_id)}
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: order[row["point"]]):
        values = by_id[row["point"]].values
        groups[(canonical(values), row["arm"])].append(row)
    return [_result(by_id, group, figure) for group in groups.values()]


def _result(
    by_id: Mapping[str, Point], rows: Sequence[Mapping[str, Any]], figure: str
) -> dict[str, Any]:
    figures = [row[figure] for row in rows if row[figure] is not None]
    verdicts = [row["verdict"] for row in rows if row["verdict"]]
    return {
        "values": dict(by_id[rows[0]["point"]].values),
        "arm": rows[0]["arm"],
        "seeds": len(rows),
        "interval": asdict(mean_over_seeds(figures)) if figures else None,
        "verdicts": {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
    }
