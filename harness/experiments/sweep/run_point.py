"""One point, from its scenario to its rows in Parquet; or why there are none."""

from __future__ import annotations

import time
import traceback

import pyarrow as pa
import pyarrow.parquet as pq

from harness.experiments.sweep.figures import Row, iterations_rows, rounds_rows, schema_of
from harness.experiments.sweep.work import Failure, Outcome, Point, Stop, never
from traces.errors import RoundelayError, on_one_line
from traces.rounds_scenario import is_rounds_scenario


def attempt(point: Point, stop: Stop = never) -> Outcome:
    """Run ``point``; whatever goes wrong in it is its own failure. stop: ends an emulation early"""
    try:
        return Outcome(point, table=_run(point, stop))
    except RoundelayError as error:
        return Outcome(point, failure=Failure(str(error), traceback.format_exc()))
    except Exception as error:
        reason = on_one_line(f"{type(error).__name__}: {error}")
        return Outcome(point, failure=Failure(reason, traceback.format_exc()))


def _run(point: Point, stop: Stop) -> bytes | None:
    began_s = time.monotonic()
    # Imported here: one kind of scenario does without what the other compiles or starts.
    if point.emulated:
        from harness.experiments.sweep.emulate_point import emulated_summary

        summary = emulated_summary(point.source, stop)
        if summary is None:
            return None
    else:
        from harness.experiments.sweep.simulate_point import simulated_summary

        summary = simulated_summary(point.source)
    rounds = is_rounds_scenario(point.source)
    make_rows = rounds_rows if rounds else iterations_rows
    rows = make_rows(point, summary, time.monotonic() - began_s)
    return _parquet(rows, schema_of(point.kinds, rounds=rounds))


def _parquet(rows: list[Row], schema: pa.Schema) -> bytes:
    stream = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), stream)
    content: bytes = stream.getvalue().to_pybytes()
    return content
