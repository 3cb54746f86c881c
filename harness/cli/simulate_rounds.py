"""What ``simulate`` does with a scenario of rounds: every arm with every seed, one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from emulator.interrupt import stop_on_signals
from harness.cli.options import default_output
from harness.cli.show import console, progress_bars, tell_end
from harness.cli.show_rounds import print_rounds
from harness.experiments.rounds.figures import run_document
from harness.experiments.rounds.run import check_arms, check_workloads
from harness.experiments.rounds.simulate import simulate_seed
from harness.experiments.rounds.store import RoundsStore, write_documents
from harness.experiments.rounds.summary import summarise
from harness.experiments.rounds.timeline import write_timeline
from harness.report.page import write_report
from traces.rounds_scenario import RoundsArm, rounds_scenario_of
from traces.run_directory import give_to_caller, prepare_directory
from traces.yaml_source import YamlSource


def simulate_rounds(
    context: click.Context, source: YamlSource, output: Path | None, as_json: bool
) -> None:
    """Simulate the scenario of ``source``; write its directory, whatever happens; print a table."""
    scenario = rounds_scenario_of(source)
    check_arms(scenario)
    check_workloads(scenario)
    directory = output or default_output(source.file)
    made = prepare_directory(directory)
    runs: list[tuple[RoundsArm, list[dict[str, Any]]]] = []

    def write(*, interrupted: bool) -> dict[str, Any]:
        summary = summarise(scenario, runs, interrupted=interrupted)
        write_documents(directory, scenario, summary)
        done = [(arm.name, found["seed"]) for arm, documents in runs for found in documents]
        write_timeline(directory, done)
        return summary

    interrupted = True
    try:
        with (
            RoundsStore(directory) as store,
            stop_on_signals(
                lambda: console.print("stopping after the round under way ...")
            ) as stop,
            progress_bars() as progress,
        ):
            for arm in scenario.arms:
                documents: list[dict[str, Any]] = []
                runs.append((arm, documents))
                for seed in scenario.seeds:
                    if stop.wanted():
                        break
                    result = simulate_seed(scenario, arm, seed, progress, stop.wanted, store)
                    documents.append(run_document(result))
            interrupted = stop.wanted()
    finally:
        summary = write(interrupted=interrupted)
        give_to_caller(made)
    write_report([directory], directory / "report.html")
    give_to_caller(directory / "report.html")
    tell_end(context, directory, summary, print_rounds, as_json=as_json)
