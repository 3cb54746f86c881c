"""What ``simulate`` does with a scenario of rounds: every arm with every seed, one table."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import click

from emulator.interrupt import stop_on_signals
from harness.cli.carry_out import INTERRUPTED
from harness.cli.options import default_output
from harness.cli.show import console, print_json, progress_bars
from harness.cli.show_rounds import print_rounds
from harness.experiments.rounds.figures import run_document
from harness.experiments.rounds.run import check_arms, check_workloads, run_arm
from harness.experiments.rounds.store import RoundsStore, write_documents
from harness.experiments.rounds.summary import summarise
from harness.report.page import write_report
from traces.errors import BadInputError
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
                    label = f"{arm.name}, seed {seed}" if len(scenario.seeds) > 1 else arm.name
                    try:
                        result = run_arm(
                            arm,
                            seed,
                            functools.partial(progress, label),
                            stop.wanted,
                            functools.partial(store.add_leases, arm, seed),
                        )
                    except BadInputError as error:
                        raise error if error.file else scenario.locate(error, arm.name) from None
                    store.add_jobs(result)
                    documents.append(run_document(result))
            interrupted = stop.wanted()
    finally:
        summary = write(interrupted=interrupted)
        give_to_caller(made)
    write_report([directory], directory / "report.html")
    give_to_caller(directory / "report.html")
    if as_json:
        print_json(summary)
    print_rounds(summary)
    console.print(f"report: {(directory / 'report.html').resolve()}", soft_wrap=True)
    if interrupted:
        context.exit(INTERRUPTED)
