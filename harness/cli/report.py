"""roundelay report."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option
from harness.cli.show import console, print_json
from traces.errors import BadInputError
from traces.run_directory import give_to_caller


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
    from harness.report.page import (
        write_report,
    )  # plotly takes a second that other verbs need not wait

    file = output or directories[0] / "report.html"
    try:
        write_report(directories, file)
    except OSError as error:
        raise BadInputError(
            f"cannot be written: {error.strerror}", allowed="a writable place", file=file
        ) from None
    give_to_caller(file)
    if as_json:
        print_json({"report": str(file.resolve())})
    console.print(f"report: {file.resolve()}", soft_wrap=True)
