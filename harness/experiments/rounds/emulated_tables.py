"""The tables that only an emulation of rounds has: its steps, and the load of its links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from emulator.rounds.evidence import StepSpan
from emulator.rounds.link_load import LinkLoad
from traces.rounds_results import LINKS, STEPS

_ROWS_AT_ONCE = 50_000


class EmulatedTables:
    """iterations.parquet and links.parquet while they grow. A context: closes the files, whatever
    happens."""

    def __init__(self, directory: Path) -> None:
        self._iterations = pq.ParquetWriter(directory / "iterations.parquet", STEPS)
        self._links = pq.ParquetWriter(directory / "links.parquet", LINKS)
        self._steps: list[pa.Table] = []
        self._pending_rows = 0

    def __enter__(self) -> EmulatedTables:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._flush()
        self._iterations.close()
        self._links.close()

    def add_steps(self, arm: str, seed: int, spans: Sequence[StepSpan]) -> None:
        """Steps of one round."""
        self._steps.append(_table(arm, seed, spans, StepSpan, STEPS))
        self._pending_rows += len(spans)
        if self._pending_rows >= _ROWS_AT_ONCE:
            self._flush()

    def add_links(self, arm: str, seed: int, loads: Sequence[LinkLoad]) -> None:
        """The loads of all links over one run."""
        self._links.write_table(_table(arm, seed, loads, LinkLoad, LINKS))

    def _flush(self) -> None:
        if self._steps:
            self._iterations.write_table(pa.concat_tables(self._steps))
        self._steps, self._pending_rows = [], 0


def _table(arm: str, seed: int, rows: Sequence[Any], kind: type, schema: pa.Schema) -> pa.Table:
    """``rows``, which are of ``kind``, with the arm and seed that they are of."""
    columns = {field.name: [getattr(row, field.name) for row in rows] for field in fields(kind)}
    return pa.table(
        {"arm": [arm] * len(rows), "seed": [seed] * len(rows), **columns}, schema=schema
    )
