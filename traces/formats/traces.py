"""The formats of traces, and how a file's own is told from its first bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from traces.errors import BadInputError
from traces.formats import muri_trace, philly_csv, synergy_trace
from traces.formats.csv_table import is_header
from traces.job_trace import JobTrace, read_trace

ROUNDELAY = "roundelay"

TRACE_FORMATS: dict[str, Callable[[Path], JobTrace]] = {
    synergy_trace.FORMAT: synergy_trace.read_synergy_trace,
    philly_csv.FORMAT: philly_csv.read_philly_csv,
    muri_trace.FORMAT: muri_trace.read_muri_trace,
    ROUNDELAY: read_trace,
}

_PARQUET_MAGIC = b"PAR1"
_FIRST_BYTES = 2**16  # far more than any header

# What the first line of each text format looks like.
_FIRST_LINES: dict[str, Callable[[str], bool]] = {
    synergy_trace.FORMAT: synergy_trace.is_synergy_row,
    philly_csv.FORMAT: lambda line: is_header(line, philly_csv.COLUMNS),
    muri_trace.FORMAT: lambda line: is_header(line, muri_trace.COLUMNS),
}


def read_jobs(file: Path, format: str | None = None) -> JobTrace:
    """The jobs of ``file`` in one of TRACE_FORMATS; by its content where ``format`` is None.

    Raises BadInputError, with the known formats where it is none of them.
    """
    name = _format_of(file) if format is None else format
    reader = TRACE_FORMATS.get(name)
    if reader is None:
        raise BadInputError(f"{name!r} is no format of traces", allowed=_allowed(), file=file)
    return reader(file)


def _allowed() -> str:
    return f"a trace in one of the formats {', '.join(TRACE_FORMATS)}"


def _format_of(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            head = stream.read(_FIRST_BYTES)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed=_allowed(), file=file) from None
    if head.startswith(_PARQUET_MAGIC):
        return ROUNDELAY
    # The reader says what is wrong with bytes that are no text.
    lines = head.decode(errors="replace").split("\n")
    first_line = next((line.strip() for line in lines if line.strip()), "")
    for name, is_of_format in _FIRST_LINES.items():
        if is_of_format(first_line):
            return name
    raise BadInputError("its format is not known", allowed=_allowed(), file=file, line=1)
