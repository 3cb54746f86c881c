"""roundelay trace formats."""

from __future__ import annotations

import click
from rich.text import Text

from harness.cli.options import json_option
from harness.cli.show import console, plain_table, print_json
from traces.formats.traces import TRACE_FORMATS


@click.command()
@json_option
def formats(as_json: bool) -> None:
    """The formats that can be read, and the cleaning rules of each with their defaults.

    \b
    Example:
      roundelay trace formats
    """
    if as_json:
        print_json(
            [
                {
                    "format": each.name,
                    "title": each.title,
                    "takes_mapping": each.takes_mapping,
                    "rules": [
                        {
                            "rule": rule.name,
                            "meaning": rule.meaning,
                            "by_default": rule.by_default,
                        }
                        for rule in each.rules
                    ],
                }
                for each in TRACE_FORMATS.values()
            ]
        )
        return
    table = plain_table("formats, in the order in which a file is tried")
    table.padding = (0, 2, 0, 0)
    for heading in ("format, and its rules", "by default", "what it is"):
        table.add_column(heading)
    for each in TRACE_FORMATS.values():
        table.add_row(Text(each.name, style="bold"), "", Text(each.title))
        for rule in each.rules:
            default = "on" if rule.by_default else "off"
            table.add_row(Text(f"  {rule.name}"), default, Text(rule.meaning))
    console.print(table)
