"""The files of a finished profiling: profile.json, points.parquet, iterations.parquet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from profiler.sensitivity.measured_point import MeasuredPoint
from profiler.sensitivity.profile_state import ITERATIONS, ProfileState
from traces.sensitivity import Sensitivities, write_sensitivities

PROFILE = "profile.json"
POINTS_FILE = "points.parquet"
ITERATIONS_FILE = "iterations.parquet"

POINTS = pa.schema(
    [
        ("point", pa.int64()),
        ("cpus", pa.float64()),
        ("cache_bytes", pa.int64()),
        ("purpose", pa.string()),
        ("state", pa.string()),
        ("reason", pa.string()),
        ("iteration_s", pa.float64()),
        ("low_s", pa.float64()),
        ("high_s", pa.float64()),
        ("iterations", pa.int64()),
        ("warmup_iterations", pa.int64()),
        ("wait_s", pa.float64()),
        ("copy_s", pa.float64()),
        ("compute_s", pa.float64()),
        ("hits", pa.int64()),
        ("misses", pa.int64()),
        ("fetched_bytes", pa.int64()),
        ("steady", pa.bool_()),
        ("precise", pa.bool_()),
        ("cost_s", pa.float64()),
        ("evidence", pa.string()),
    ]
)
"""One row a point, in the order in which they were measured: the fields of MeasuredPoint, low_s and
high_s being its interval, and evidence JSON. Times that there are none of are null."""

_TIMES = ("iteration_s", "low_s", "high_s", "wait_s", "copy_s", "compute_s")


def write_profile(directory: Path, sensitivities: Sensitivities, state: ProfileState) -> None:
    """Write all of them into ``directory``. The profile is the last, and whole once it is there."""
    table = pa.Table.from_pylist(_rows(state.points), schema=POINTS)
    pyarrow.parquet.write_table(table, directory / POINTS_FILE)
    with pyarrow.parquet.ParquetWriter(directory / ITERATIONS_FILE, ITERATIONS) as writer:
        for iterations in state.iterations():
            writer.write_table(iterations)
    partial = directory / f"{PROFILE}.partial"
    write_sensitivities(sensitivities, partial)
    partial.replace(directory / PROFILE)


def _rows(points: Sequence[MeasuredPoint]) -> list[dict[str, object]]:
    rows = []
    for number, point in enumerate(points):
        low_s, high_s = point.interval_s
        row: dict[str, object] = {name: getattr(point, name, None) for name in POINTS.names}
        row |= {
            "point": number,
            "cpus": point.allocation.cpus,
            "cache_bytes": point.allocation.cache_bytes,
            "low_s": low_s,
            "high_s": high_s,
            "evidence": json.dumps(point.evidence),
        }
        if not point.is_measured:
            row |= dict.fromkeys(_TIMES)
        rows.append(row)
    return rows
