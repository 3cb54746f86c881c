"""What ``plan`` prints of a scenario of rounds: its scale, and the commands of its network."""

from __future__ import annotations

from typing import Any

import click

from emulator.rounds.run import plan_run_network
from emulator.rounds.scale import RoundsScale
from harness.cli.options import check_arm
from harness.cli.show import print_json, print_warnings, progress_bars
from harness.experiments.rounds.both import check, scale_here, simulate_all
from traces.quantities import format_duration, format_rate, format_size
from traces.rounds_scenario import rounds_scenario_of
from traces.yaml_source import YamlSource


def plan_rounds(source: YamlSource, only_arm: str | None, run_id: str, *, as_json: bool) -> None:
    """Print both; changes nothing. The scale rests on a simulation of all arms."""
    scenario = rounds_scenario_of(source)
    check(scenario)
    check_arm(only_arm, [arm.name for arm in scenario.arms], source.file)
    with progress_bars() as progress:
        runs = simulate_all(scenario, None, progress, lambda: False)
    scale = scale_here(scenario, runs)
    documents: list[dict[str, Any]] = []
    for arm in scenario.arms:
        if only_arm in (None, arm.name):
            network = plan_run_network(
                run_id, arm.pool, scale.storage_bytes_per_s, scale.divisors.bytes
            )
            commands = [str(command) for command in network.plan.commands]
            documents.append({"arm": arm.name, "commands": commands})
    if as_json:
        print_json({"run_id": run_id, "scale": scale.document, "arms": documents})
        return
    for line in _scale_lines(scale):
        click.echo(f"# {line}")
    for document in documents:
        click.echo(f"# arm {document['arm']}")
        for command in document["commands"]:
            click.echo(command)
    print_warnings(scale.warnings)


def _scale_lines(scale: RoundsScale) -> list[str]:
    divisors = scale.divisors
    return [
        f"scale: {scale.reason}",
        f"time: one emulated iteration stands for {divisors.stride:g}; a round takes "
        f"{format_duration(scale.round_wall_s)}, all arms and seeds "
        f"{format_duration(scale.wall_s)} and the boundaries of rounds",
        f"CPU: one of {scale.cpus:g} is {scale.cpu_of_a_core:.2%} of one of {scale.cores} cores",
        f"links: {divisors.bytes:g} times slower, iterations read {divisors.bytes:g} times less; "
        f"storage of a server {format_rate(scale.storage_bytes_per_s * 8 / divisors.bytes)}",
        f"memory: datasets and caches {divisors.memory:g} times smaller, all caches together "
        f"{format_size(scale.cache_bytes)}",
        *(
            f"{model.model}: {model.bundle} iterations in a step of "
            f"{format_duration(model.step_s)}, {model.dataset_items} items in the dataset"
            for model in scale.models
        ),
    ]
