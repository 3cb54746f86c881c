"""roundelay report."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option
from harness.cli.show import console, print_json
from harness.report.page import write_report


@click.command()
@click.argument(
    "directories", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write. Default: report.html in the first DIR.",
)
@json_option
def report(directories: tuple[Path, ...], output: Path | None, as_json: bool) -> None:
    """Write one self-contained HTML page about one or more run directories.

    \b
    Example:
      roundelay report runs/first runs/second -o both.html
    """
    file = output or directories[0] / "report.html"
    write_report(directories, file)
    if as_json:
        print_json({"report": str(file.resolve())})
    console.print(f"report: {file.resolve()}", soft_wrap=True)
