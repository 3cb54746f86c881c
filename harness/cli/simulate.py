"""roundelay simulate."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.carry_out import carry_out
from harness.cli.options import json_option, output_option, scenario_argument


@click.command()
@scenario_argument
@output_option
@json_option
@click.pass_context
def simulate(
    context: click.Context, scenario_file: Path, output: Path | None, as_json: bool
) -> None:
    """Predict every arm of SCENARIO with the fluid simulator. Needs no root.

    \b
    Example:
      roundelay simulate examples/two-vgg19.yaml -o runs/predicted
    """
    carry_out(context, scenario_file, output, as_json, predicts=True, run_id=None)
