"""What the kinds of `trace generate` have in common at their end."""

from __future__ import annotations

from pathlib import Path

from harness.cli.show import console, print_json
from harness.cli.show_trace import trace_document
from harness.cli.trace_output import write_new_trace
from harness.report.words import duration
from traces.errors import on_one_line
from traces.job_trace import JobTrace


def finish(trace: JobTrace, output: Path, *, as_json: bool) -> None:
    """Write ``trace``, and say what it is and where."""
    write_new_trace(trace, output)
    if as_json:
        print_json(trace_document(trace) | {"file": str(output.resolve())})
    span = duration(float(trace.jobs["submit_s"].max()))
    console.print(f"{len(trace.jobs):,} jobs, submitted within {span}")
    for what, text in (*(("note", note) for note in trace.notes), ("source", trace.source)):
        console.print(f"{what}: {on_one_line(text)}", soft_wrap=True, markup=False)
    console.print(f"trace: {output.resolve()}", soft_wrap=True, markup=False)
