"""How a trace was made, for a person and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from harness.cli.show import console, plain_table
from traces.errors import on_one_line
from traces.formats.traces import TRACE_FORMATS
from traces.job_trace import JobTrace

_TITLE_WIDTH = 48  # so that the title does not wrap over a table of short words


def trace_document(trace: JobTrace) -> dict[str, Any]:
    """What is known of how a trace was made, as JSON. read = jobs + those that were left out."""
    return {
        "format": trace.format,
        "source": trace.source,
        "began": trace.began,
        "share": trace.share,
        "read": trace.read,
        "jobs": len(trace.jobs),
        "left_out": dict(trace.left_out),
        "changed": dict(trace.changed),
        "rules": dict(trace.rules),
        "reordered": trace.reordered,
        "notes": list(trace.notes),
    }


def print_trace(trace: JobTrace) -> None:
    """The counts of ``trace`` as a table, and where it comes from."""
    meanings = _meanings(trace.format)
    table = plain_table(f"{trace.format}: {len(trace.jobs):,} jobs")
    table.padding = (0, 2, 0, 0)
    table.min_width = _TITLE_WIDTH
    table.add_column("jobs", justify="right")
    table.add_column("")
    table.add_row(f"{trace.read:,}", "read")
    for what, counts in (("left out by", trace.left_out), ("changed by", trace.changed)):
        for rule, count in counts.items():
            meaning = f": {meanings[rule]}" if rule in meanings else ""
            table.add_row(f"{count:,}", Text(f"{what} {rule}{meaning}"))
    table.add_row(f"{len(trace.jobs):,}", "kept")
    if trace.reordered:
        table.add_row(f"{trace.reordered:,}", "reordered: submitted before the job above them")
    console.print(table)
    switched = [f"{name}={'on' if on else 'off'}" for name, on in trace.rules.items()]
    for what, text in (
        *(("rule, not as by default", rule) for rule in switched),
        *(("note", note) for note in trace.notes),
        *([("began", trace.began)] if trace.began else []),
        *([("share of the file", f"{trace.share:.4%}")] if trace.share < 1 else []),
        ("source", trace.source),
    ):
        console.print(f"{what}: {on_one_line(text)}", soft_wrap=True, markup=False)


def _meanings(format: str) -> Mapping[str, str]:
    found = TRACE_FORMATS.get(format)
    return {rule.name: rule.meaning for rule in found.rules} if found else {}
