"""roundelay emulate."""

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
from traces.errors import BadInputError
from traces.rounds_scenario import is_rounds_scenario
from traces.scenario_file import ScenarioFile


@click.command()
@scenario_argument
@output_option
@run_id_option
@rootless_option
@click.option(
    "--schedule",
    type=click.Path(path_type=Path),
    help="Replay the recorded schedule of this run directory, round by round.",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    help="Go on with the run in this directory, which was killed or interrupted.",
)
@quiet_option
@json_option
@click.pass_context
def emulate(
    context: click.Context,
    scenario_file: Path,
    output: Path | None,
    run_id: str,
    rootless: bool,
    schedule: Path | None,
    resume: Path | None,
    as_json: bool,
) -> None:
    """Emulate every arm of SCENARIO on this box, without a prediction.

    Needs root, or --rootless.

    \b
    Example:
      sudo roundelay emulate examples/two-vgg19.yaml -o runs/measured
      roundelay emulate examples/two-vgg19.yaml --rootless
      sudo roundelay emulate examples/synergy-deploy.yaml --schedule runs/predicted
      sudo roundelay emulate examples/synergy-deploy.yaml --resume runs/killed
    """
    if rootless:
        begin_rootless()
    source = ScenarioFile.read(scenario_file)
    if is_rounds_scenario(source):
        # Imported here: what it compiles takes time to load, and the other kind does without.
        from harness.cli.carry_out_rounds import carry_out_rounds

        refuse_rootless(scenario_file, rootless=rootless)
        carry_out_rounds(
            context,
            source,
            output,
            as_json,
            predicts=False,
            run_id=run_id,
            schedule=schedule,
            resume=resume,
        )
        return
    for option, given in (("--schedule", schedule), ("--resume", resume)):
        if given is not None:
            raise BadInputError(
                "only jobs that are scheduled round by round have a schedule",
                allowed="a scenario with a trace or a generator",
                file=scenario_file,
                key=option,
            )
    carry_out(
        context,
        source,
        output,
        as_json,
        predicts=False,
        run_id=run_id,
    )
