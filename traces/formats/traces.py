"""The formats of traces, and how a file's own is told from its first bytes."""

from __future__ import annotations

from pathlib import Path

from traces.errors import BadInputError
from traces.formats import muri_trace, own_trace, philly_csv, synergy_trace
from traces.job_trace import JobTrace
from traces.trace_format import Head, ReadOptions, TraceFormat

TRACE_FORMATS: dict[str, TraceFormat] = {
    each.name: each
    for each in (
        own_trace.FORMAT,
        philly_csv.FORMAT,
        muri_trace.FORMAT,
        synergy_trace.FORMAT,
    )
}
"""By name, in the order in which a file is tried: those that are told by less come last."""

_HEAD_BYTES = 2**16  # far more than any header


def read_jobs(
    file: Path, format: str | None = None, options: ReadOptions | None = None
) -> JobTrace:
    """The jobs of ``file`` in one of TRACE_FORMATS; by its content where ``format`` is None.

    Raises BadInputError, with the known formats where it is none of them.
    """
    return format_of(file, format).read(file, options or ReadOptions())


def format_of(file: Path, format: str | None = None) -> TraceFormat:
    """The format that is named, or else that of ``file`` by its content. Raises as read_jobs."""
    if format is not None and format not in TRACE_FORMATS:
        raise BadInputError(f"{format!r} is no format of traces", allowed=_allowed(), file=file)
    return _told(file) if format is None else TRACE_FORMATS[format]


def _allowed() -> str:
    return f"a trace in one of the formats {', '.join(TRACE_FORMATS)}"


def _told(file: Path) -> TraceFormat:
    try:
        with file.open("rb") as stream:
            head = Head(stream.read(_HEAD_BYTES))
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed=_allowed(), file=file) from None
    for each in TRACE_FORMATS.values():
        if each.is_format(head):
            return each
    raise BadInputError("its format is not known", allowed=_allowed(), file=file, line=1)
