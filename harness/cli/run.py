"""roundelay run."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.carry_out import carry_out
from harness.cli.options import (
    begin_rootless,
    json_option,
    output_option,
    quiet_option,
    refuse_rootless,
    rootless_option,
    run_id_option,
    scenario_argument,
)
from traces.rounds_scenario import is_rounds_scenario
from traces.scenario_file import ScenarioFile


@click.command()
@scenario_argument
@output_option
@run_id_option
@rootless_option
@quiet_option
@json_option
@click.pass_context
def run(
    context: click.Context,
    scenario_file: Path,
    output: Path | None,
    run_id: str,
    rootless: bool,
    as_json: bool,
) -> None:
    """Simulate and emulate every arm of SCENARIO, compare the two, and write a report.

    Needs root, or --rootless. Ctrl-C ends the run with the iterations under way and keeps what was
    measured.

    \b
    Example:
      sudo roundelay run examples/two-vgg19.yaml -o runs/first
      roundelay run examples/two-vgg19.yaml --rootless
      sudo roundelay run examples/synergy-deploy.yaml -o runs/deploy
    """
    if rootless:
        begin_rootless()
    source = ScenarioFile.read(scenario_file)
    if is_rounds_scenario(source):
        # Imported here: what it compiles takes time to load, and the other kind does without.
        from harness.cli.carry_out_rounds import carry_out_rounds

        refuse_rootless(scenario_file, rootless=rootless)
        carry_out_rounds(context, source, output, as_json, predicts=True, run_id=run_id)
        return
    carry_out(
        context,
        source,
        output,
        as_json,
        predicts=True,
        run_id=run_id,
    )
