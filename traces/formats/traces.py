"""The formats of traces, and how a file's own is told from its first bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from traces.errors import BadInputError
from traces.formats import (
    acme_trace,
    alibaba_2020,
    alibaba_2023,
    alibaba_2026,
    csv_jobs,
    elasticflow_trace,
    gavel_trace,
    helios_trace,
    kubernetes,
    muri_trace,
    own_trace,
    philly,
    philly_csv,
    pollux_trace,
    shockwave_trace,
    slurm,
    synergy_trace,
    tiresias_trace,
)
from traces.job_trace import JobTrace
from traces.trace_format import Head, ReadOptions, TraceFormat, head_of, unusual_rules

TRACE_FORMATS: dict[str, TraceFormat] = {
    each.name: each
    for each in (
        own_trace.FORMAT,
        philly.FORMAT,
        philly_csv.FORMAT,
        muri_trace.FORMAT,
        tiresias_trace.FORMAT,
        elasticflow_trace.FORMAT,
        pollux_trace.FORMAT,
        helios_trace.FORMAT,
        acme_trace.FORMAT,
        alibaba_2020.FORMAT,
        alibaba_2023.FORMAT,
        alibaba_2026.FORMAT,
        slurm.FORMAT,
        kubernetes.FORMAT,
        csv_jobs.FORMAT,
        shockwave_trace.FORMAT,
        gavel_trace.FORMAT,
        synergy_trace.FORMAT,
    )
}
"""By name, in the order in which a file is tried: those that are told by less come last."""


def read_jobs(
    file: Path, format: str | None = None, options: ReadOptions | None = None
) -> JobTrace:
    """The jobs of ``file`` in one of TRACE_FORMATS; by its content where ``format`` is None.

    Raises BadInputError, with the known formats where it is none of them, and for a cleaning rule
    or a mapping file that its format does not have.
    """
    chosen, options = format_of(file, format), options or ReadOptions()
    if options.mapping is not None and not chosen.takes_mapping:
        mapped = ", ".join(each.name for each in TRACE_FORMATS.values() if each.takes_mapping)
        problem = f"the format {chosen.name!r} has no use for a mapping file"
        raise BadInputError(problem, allowed=f"one of the formats {mapped}", file=options.mapping)
    rules = unusual_rules(chosen.rules, options)
    trace = chosen.read(file, options)
    return replace(trace, rules=rules) if rules else trace


def format_of(file: Path, format: str | None = None) -> TraceFormat:
    """The format that is named, or else that of ``file`` by its content. Raises as read_jobs."""
    if format is not None and format not in TRACE_FORMATS:
        raise BadInputError(f"{format!r} is no format of traces", allowed=_allowed(), file=file)
    return _told(file) if format is None else TRACE_FORMATS[format]


def _allowed() -> str:
    return f"a trace in one of the formats {', '.join(TRACE_FORMATS)}"


def _told(file: Path) -> TraceFormat:
    try:
        head = _entries_of(file) if file.is_dir() else head_of(file)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed=_allowed(), file=file) from None
    for each in TRACE_FORMATS.values():
        if each.is_format(head):
            return each
    if file.is_dir():
        problem = "cannot be read: it is a directory without the tables of a trace"
        raise BadInputError(problem, allowed=_allowed(), file=file)
    raise BadInputError("its format is not known", allowed=_allowed(), file=file, line=1)


def _entries_of(directory: Path) -> Head:
    return Head(b"", frozenset(each.name for each in directory.iterdir()))
