"""Writes timeline.json of a run of rounds from the tables in its directory."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from traces.rounds_results import JOBS, LINKS, ROUNDS, STEPS
from traces.rounds_timeline import RunTables, rounds_trace

_JOB_COLUMNS = ["job", "model", "submit_s", "finish_s"]
_LEASE_COLUMNS = ["job", "server", "gpus", "cpus", "memory_bytes", "from_s", "until_s"]


def write_timeline(
    directory: Path,
    runs: Iterable[tuple[str, int]],
    window_s: tuple[float, float] = (0.0, math.inf),
) -> None:
    """timeline.json of ``runs``: (arm, seed), of which the tables in ``directory`` have rows."""
    tables = [_read(directory, arm, seed) for arm, seed in runs]
    document = rounds_trace(tables, window_s)
    (directory / "timeline.json").write_text(json.dumps(document), encoding="utf-8")


def _read(directory: Path, arm: str, seed: int) -> RunTables:
    def frame(table: pa.Table) -> pd.DataFrame:
        found: pd.DataFrame = table.to_pandas()
        return found

    def rows(name: str, schema: pa.Schema, columns: list[str]) -> pd.DataFrame:
        file = directory / f"{name}.parquet"
        if not file.is_file():  # only what was emulated has all of them
            return frame(schema.empty_table().select(columns))
        own = (pc.field("arm") == arm) & (pc.field("seed") == seed)
        return frame(pq.read_table(file, columns=columns, filters=own))

    leases = rows("rounds", ROUNDS, _LEASE_COLUMNS)
    return RunTables(
        name=f"{arm}, seed {seed}",
        jobs=rows("jobs", JOBS, _JOB_COLUMNS),
        leases=leases,
        steps=rows("iterations", STEPS, STEPS.names[2:]),
        links=rows("links", LINKS, ["port", "t_s", "rate_bps"]),
        end_s=float(leases["until_s"].max()) if len(leases) else 0.0,
    )
