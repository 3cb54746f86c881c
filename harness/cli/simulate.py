"""roundelay simulate."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.carry_out import carry_out
from harness.cli.options import json_option, output_option, quiet_option, scenario_argument
from traces.rounds_scenario import is_rounds_scenario
from traces.scenario_file import ScenarioFile


@click.command()
@scenario_argument
@output_option
@quiet_option
@json_option
@click.pass_context
def simulate(
    context: click.Context, scenario_file: Path, output: Path | None, as_json: bool
) -> None:
    """Predict every arm of SCENARIO. Needs no root.

    Jobs that stand in the scenario share links, and the fluid simulator predicts their iterations;
    jobs of a trace or a generator are scheduled round by round, and their completion is predicted.

    \b
    Example:
      roundelay simulate examples/two-vgg19.yaml -o runs/predicted
      roundelay simulate examples/synergy-load.yaml -o runs/load
    """
    source = ScenarioFile.read(scenario_file)
    if is_rounds_scenario(source):
        # Imported here: what it compiles takes time to load, and the other kind does without.
        from harness.cli.simulate_rounds import simulate_rounds

        simulate_rounds(context, source, output, as_json)
        return
    carry_out(context, source, output, as_json, predicts=True, run_id=None)
