"""roundelay trace mapping."""

from __future__ import annotations

import click
import yaml

from harness.cli.options import json_option
from harness.cli.show import print_json
from traces.formats.csv_mapping import example_mapping


@click.command()
@json_option
def mapping(as_json: bool) -> None:
    """Print an example of what `trace convert --mapping` takes, with every key.

    \b
    Example:
      roundelay trace mapping > mapping.yaml
    """
    if as_json:
        print_json(yaml.safe_load(example_mapping()))
        return
    click.echo(example_mapping(), nl=False)
