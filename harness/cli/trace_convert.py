"""roundelay trace convert."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option, quiet_option
from harness.cli.show import console, print_json
from harness.cli.show_trace import print_trace, trace_document
from harness.cli.trace_options import share_option, spinner
from harness.cli.trace_output import refuse_existing, write_new_trace
from traces.errors import BadInputError, on_one_line
from traces.formats.traces import TRACE_FORMATS, format_of, read_jobs
from traces.trace_format import ReadOptions, TraceFormat, unusual_rules

_SWITCH = {"on": True, "off": False}


@click.command()
@click.argument("format_and_file", metavar="[FORMAT] FILE", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write (Parquet); it must be new.",
)
@click.option(
    "--rule",
    "rules",
    metavar="NAME=on|off",
    multiple=True,
    help="Switch a cleaning rule of the format (`roundelay trace formats`) on or off; may be given "
    "several times.",
)
@click.option(
    "--mapping",
    type=click.Path(path_type=Path),
    help="A file that says what the columns of a plain CSV file are (`roundelay trace mapping`).",
)
@share_option
@quiet_option
@json_option
def convert(
    format_and_file: tuple[str, ...],
    output: Path,
    rules: tuple[str, ...],
    mapping: Path | None,
    share: float,
    as_json: bool,
) -> None:
    """Turn a trace of any known format into one table of jobs.

    FORMAT is one of `roundelay trace formats`; without it, the content of FILE tells.

    \b
    Example:
      roundelay trace convert philly-csv philly.csv -o jobs.parquet
    """
    if len(format_and_file) > 2:
        raise click.UsageError("There are more arguments than FORMAT and FILE.")
    name, file = [None, *format_and_file][-2:]
    source = Path(str(file))
    refuse_existing(output)
    chosen = _format(source, name, mapping)
    options = ReadOptions(rules=_switched(rules, chosen), share=share, mapping=mapping)
    with spinner(f"reading {on_one_line(source.name)} as {chosen.name}"):
        trace = read_jobs(source, chosen.name, options)
        write_new_trace(trace, output)
    if as_json:
        print_json(trace_document(trace) | {"file": str(output.resolve())})
    print_trace(trace)
    console.print(f"trace: {output.resolve()}", soft_wrap=True, markup=False)


def _format(file: Path, name: str | None, mapping: Path | None) -> TraceFormat:
    """The format that is named, or takes the ``mapping``, or that the content of ``file`` tells."""
    if name is None and mapping is not None:
        name = next(each.name for each in TRACE_FORMATS.values() if each.takes_mapping)
    return format_of(file, name)


def _switched(rules: tuple[str, ...], chosen: TraceFormat) -> dict[str, bool]:
    """What the options ``--rule`` say. BadInputError where one is none of the format's."""
    switched: dict[str, bool] = {}
    for text in rules:
        name, _, state = text.partition("=")
        if state not in _SWITCH:
            problem = f"{text!r} switches nothing"
            raise BadInputError(problem, allowed="NAME=on or NAME=off", key="--rule")
        if name in switched:
            raise BadInputError(f"{name!r} stands twice", allowed="each rule once", key="--rule")
        switched[name] = _SWITCH[state]
    try:
        unusual_rules(chosen.rules, ReadOptions(rules=switched))
    except BadInputError as error:
        raise BadInputError(error.problem, allowed=error.allowed, key="--rule") from None
    return switched
