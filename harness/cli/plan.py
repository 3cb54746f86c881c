"""roundelay plan."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from emulator.networks import plan_arm
from harness.cli.options import check_arm, json_option, run_id_option, scenario_argument
from harness.cli.show import print_json, print_warnings
from harness.experiments.run import arms_of, scale_of
from harness.scheduling.placed.resources import proportional_share
from traces.quantities import format_duration, format_rate, format_size
from traces.rounds_scenario import is_rounds_scenario
from traces.scenario import scenario_of
from traces.scenario_file import ScenarioFile


@click.command()
@scenario_argument
@click.option("--arm", "only_arm", help="Only this arm. Default: all, in the order of the run.")
@run_id_option
@json_option
def plan(scenario_file: Path, only_arm: str | None, run_id: str, as_json: bool) -> None:
    """Print the scale and the exact commands that `run` would execute. Changes nothing.

    The output is a shell script. A run builds an arm, removes it again, and builds the next.

    \b
    Example:
      roundelay plan examples/two-vgg19.yaml --arm together --run-id byhand
      roundelay plan examples/synergy-deploy.yaml --arm tune
    """
    source = ScenarioFile.read(scenario_file)
    if is_rounds_scenario(source):
        # Imported here: what it compiles takes time to load, and the other kind does without.
        from harness.cli.plan_rounds import plan_rounds

        plan_rounds(source, only_arm, run_id, as_json=as_json)
        return
    scenario = scenario_of(source)
    print_warnings(scenario.warnings)
    scale = scale_of(scenario)
    check_arm(only_arm, [arm.name for arm in scenario.arms], scenario_file)
    documents: list[dict[str, Any]] = []
    first_network = 0
    for arm in arms_of(scenario):
        networks = plan_arm(arm, scale, run_id, first_network)
        first_network += len(networks)
        if only_arm in (None, arm.name):
            commands = [str(command) for network in networks for command in network.plan.commands]
            changes = [
                {
                    "at_s": change.event.at_s,
                    "event": f"{network.name}: {change.event}",
                    "commands": [str(command) for command in change.commands],
                }
                for network in networks
                for change in network.changes
            ]
            share = proportional_share(arm)
            documents.append(
                {
                    "arm": arm.name,
                    "proportional_share": None if share is None else asdict(share),
                    "commands": commands,
                    "events": changes,
                }
            )
    if as_json:
        print_json({"run_id": run_id, "scale": asdict(scale), "arms": documents})
        return
    click.echo(
        f"# scale: links {scale.rate_divisor:g} times slower, "
        f"transfers {scale.rate_divisor:g} times smaller ({scale.reason}); time as in the cluster"
    )
    click.echo(
        f"# budget: {format_rate(scale.budget_hop_bps)} x hops, {scale.budget_source}; "
        f"with all jobs sending at once {format_rate(scale.load_hop_bps)}"
    )
    if scale.cpu is not None:
        click.echo(
            f"# CPUs: one is {1 / scale.cpu.divisor:.2%} of a core, where a mechanism divides them "
            f"({scale.cpu.reason})"
        )
    for document in documents:
        click.echo(f"# arm {document['arm']}")
        if document["proportional_share"] is not None:
            cpus, memory_bytes = document["proportional_share"].values()
            click.echo(f"# a GPU's share: {cpus:g} CPUs, {format_size(memory_bytes)}")
        for command in document["commands"]:
            click.echo(command)
        for change in document["events"]:
            click.echo(f"# {format_duration(change['at_s'])} after the start: {change['event']}")
            for command in change["commands"]:
                click.echo(f"#   {command}")
    print_warnings(scale.warnings)
