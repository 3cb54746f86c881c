"""roundelay trace: convert, describe and generate traces of jobs, one file a verb."""

from __future__ import annotations

import click

from harness.cli.lazy_group import LazyGroup

VERBS = ("convert", "describe", "generate", "formats", "columns", "mapping")
"""Each a command of that name in the module ``trace_`` of that name."""


@click.group(cls=LazyGroup, names=VERBS, prefix="harness.cli.trace_")
def trace() -> None:
    """Traces of jobs: every public format in, one table out.

    \b
    Example:
      roundelay trace convert philly.csv -o jobs.parquet
    """
