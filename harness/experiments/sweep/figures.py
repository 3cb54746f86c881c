"""The rows of a point: its values, seed and arms with the figures of their summaries. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from harness.experiments.sweep.points import Kind, cell
from harness.experiments.sweep.work import Point

ROUNDS_FIGURE = "jct_s.all.mean"
ITERATIONS_FIGURE = "iteration_s.mean"

_COMPLETION = ("mean", "p50", "p99", "p99_9")
_ROUNDS: dict[str, pa.DataType] = {
    **{f"jobs.{name}": pa.int64() for name in ("ran", "counted", "counted_and_finished")},
    "jobs.requeued": pa.int64(),
    "load": pa.float64(),
    **{
        f"jct_s.{jobs}.{name}": pa.int64() if name == "count" else pa.float64()
        for jobs in ("all", "short", "long")
        for name in ("count", *_COMPLETION)
    },
    "waited_mean_s": pa.float64(),
    "makespan_s": pa.float64(),
    "gpu_utilisation": pa.float64(),
    "leases_per_job": pa.float64(),
    "rounds": pa.int64(),
    "decisions": pa.int64(),
    "end_s": pa.float64(),
}
_ITERATIONS: dict[str, pa.DataType] = {
    **{f"iteration_s.{name}": pa.float64() for name in ("mean", "p50", "p99")},
    "score": pa.float64(),
    "schedule.starts": pa.int64(),
    "schedule.decisions": pa.int64(),
    "schedule.completion_mean_s": pa.float64(),
}
_KINDS: Mapping[Kind, pa.DataType] = {
    "number": pa.float64(),
    "flag": pa.bool_(),
    "text": pa.string(),
}

Row = dict[str, Any]


def schema_of(kinds: Mapping[str, Kind], *, rounds: bool) -> pa.Schema:
    """Of every file of a sweep.

    Columns: the varied keys; point, arm, seed; wall_s, which the point took with all its arms;
    verdict, null where nothing was emulated; the figures by their path in the summary, null where
    an arm has none; summary, all that the summary says of the arm, as JSON.
    """
    return pa.schema(
        [
            *((key, _KINDS[kind]) for key, kind in kinds.items()),
            ("point", pa.string()),
            ("arm", pa.string()),
            ("seed", pa.int64()),
            ("wall_s", pa.float64()),
            ("verdict", pa.string()),
            *(_ROUNDS if rounds else _ITERATIONS).items(),
            ("summary", pa.string()),
        ]
    )


def rounds_rows(point: Point, summary: Mapping[str, Any], wall_s: float) -> list[Row]:
    """One row an arm of a scenario of rounds with one seed."""
    return [
        {
            **_common(point, arm, wall_s, (arm.get("emulated") or {}).get("verdict")),
            **_found(run, _ROUNDS),
        }
        for arm in summary["arms"]
        for run in arm["runs"]
    ]


def iterations_rows(point: Point, summary: Mapping[str, Any], wall_s: float) -> list[Row]:
    """One row an arm of a scenario whose jobs share links."""
    side = "measured" if point.emulated else "predicted"
    return [
        {
            **_common(point, arm, wall_s, arm["verdict"]),
            **_found(
                {
                    **(arm[side] or {}),
                    "score": arm["score"],
                    "schedule": _schedule((arm.get("schedule") or {}).get(side)),
                },
                _ITERATIONS,
            ),
        }
        for arm in summary["arms"]
    ]


def _schedule(schedule: Mapping[str, Any] | None) -> dict[str, Any]:
    """With the mean completion time, where all jobs have ended."""
    if not schedule:
        return {}
    times_s = list(schedule["completion_s"].values())
    mean_s = None if None in times_s or not times_s else sum(times_s) / len(times_s)
    return {**schedule, "completion_mean_s": mean_s}


def _common(
    point: Point, arm: Mapping[str, Any], wall_s: float, verdict: Mapping[str, Any] | None
) -> Row:
    return {
        **{key: cell(value, point.kinds[key]) for key, value in point.values.items()},
        "point": point.id,
        "arm": arm["name"],
        "seed": point.seed,
        "wall_s": wall_s,
        "verdict": verdict and verdict["status"],
        "summary": json.dumps(arm, allow_nan=False),
    }


def _found(document: Mapping[str, Any], paths: Mapping[str, pa.DataType]) -> Row:
    """What ``document`` has at each path; null where it has none."""
    return {path: _at(document, path.split(".")) for path in paths}


def _at(document: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        if document is None:
            return None
        document = document.get(key)
    return document
