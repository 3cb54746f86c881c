"""roundelay trace columns."""

from __future__ import annotations

import click
from rich.text import Text

from harness.cli.options import json_option
from harness.cli.show import console, plain_table, print_json
from traces.job_trace import JOB_COLUMNS


@click.command()
@json_option
def columns(as_json: bool) -> None:
    """The columns of a trace: of the file, and of the DataFrame.

    \b
    Example:
      roundelay trace columns
    """
    if as_json:
        print_json([{"column": name} | each._asdict() for name, each in JOB_COLUMNS.items()])
        return
    table = plain_table("columns of a trace, one row a job")
    table.padding = (0, 2, 0, 0)
    for heading in ("column", "type", "unit", "meaning"):
        table.add_column(heading)
    for name, each in JOB_COLUMNS.items():
        table.add_row(name, each.dtype, each.unit, Text(each.meaning))
    console.print(table)
