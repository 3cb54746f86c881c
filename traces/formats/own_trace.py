"""Traces that Roundelay wrote."""

from __future__ import annotations

from pathlib import Path

from traces.job_trace import JobTrace
from traces.job_trace_file import read_trace
from traces.trace_format import ReadOptions, TraceFormat

_MAGIC = b"PAR1"


def read_own_trace(file: Path, options: ReadOptions) -> JobTrace:
    """The jobs of ``file``, of its first row groups where only a share is wanted."""
    return read_trace(file, options.share)


FORMAT = TraceFormat(
    name="roundelay",
    title="what `roundelay trace` writes (Parquet)",
    read=read_own_trace,
    is_format=lambda head: head.data.startswith(_MAGIC),
)
