"""What run and emulate do with a scenario of rounds: every arm with every seed, on real workers."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import click

from emulator.fork_server import ROUNDS_KINDS
from emulator.interrupt import stop_on_signals
from emulator.rounds.scale import RoundsScale
from emulator.session import Session
from harness.cli.options import default_output
from harness.cli.show import console, print_warnings, progress_bars, tell_end
from harness.cli.show_rounds import print_emulated_rounds
from harness.cli.show_standing import standing_bars
from harness.experiments.rounds.both import (
    STATES,
    ArmRuns,
    Origin,
    check,
    emulate_all,
    errors_of,
    scale_here,
    simulate_all,
    states_of,
    summary_of,
    write_timelines,
    write_verdicts,
)
from harness.experiments.rounds.emulated_tables import EmulatedTables
from harness.experiments.rounds.store import RoundsStore, write_documents
from harness.report.page import write_report
from traces.rounds_scenario import RoundsScenario, rounds_scenario_of
from traces.run_directory import give_to_caller, prepare_directory
from traces.yaml_source import YamlSource


def carry_out_rounds(
    context: click.Context,
    source: YamlSource,
    output: Path | None,
    as_json: bool,
    *,
    predicts: bool,
    run_id: str,
    schedule: Path | None = None,
    resume: Path | None = None,
) -> None:
    """Simulate, scale, emulate; write the directory, whatever happens; print the tables.

    schedule, resume: see Origin.
    """
    scenario = rounds_scenario_of(source)
    check(scenario)
    if resume is not None:
        states_of(resume)
    directory = output or default_output(source.file)
    with contextlib.ExitStack() as stack:
        session = stack.enter_context(Session(run_id, limits=True, kinds=ROUNDS_KINDS))
        made = prepare_directory(directory)
        place = directory / "emulated" if predicts else directory
        place.mkdir(exist_ok=True)
        stop = stack.enter_context(
            stop_on_signals(lambda: console.print("stopping after the round under way ..."))
        )
        runs = [ArmRuns(arm) for arm in scenario.arms]
        scale = None
        interrupted = True
        try:
            with contextlib.ExitStack() as predicting:
                prediction = None
                if predicts:
                    (directory / "simulated").mkdir()
                    prediction = predicting.enter_context(RoundsStore(directory / "simulated"))
                with progress_bars() as progress:
                    runs = simulate_all(scenario, prediction, progress, stop.wanted)
            if not stop.wanted():
                scale = scale_here(scenario, runs)
                print_warnings(scale.warnings)
            with (
                RoundsStore(place) as store,
                EmulatedTables(place) as tables,
                standing_bars() as stand,
            ):
                if scale is not None:
                    origin = Origin(place / STATES, schedule, resume)
                    emulate_all(
                        session, runs, scenario, scale, store, tables, stand, stop.wanted, origin
                    )
            interrupted = stop.wanted()
        finally:
            summary = _write(directory, place, scenario, runs, scale, interrupted, predicts)
            give_to_caller(made)
    write_report([directory], directory / "report.html")
    give_to_caller(directory / "report.html")
    tell_end(context, directory, summary, print_emulated_rounds, as_json=as_json)


def _write(
    directory: Path,
    place: Path,
    scenario: RoundsScenario,
    runs: list[ArmRuns],
    scale: RoundsScale | None,
    interrupted: bool,
    predicts: bool,
) -> dict[str, Any]:
    """Everything but the tables, which are there already, and the report."""
    errors = errors_of(directory, runs) if predicts and any(e.emulated for e in runs) else {}
    summary = summary_of(scenario, runs, scale, errors, predicts=predicts, interrupted=interrupted)
    write_documents(directory, scenario, summary)
    write_verdicts(place, summary)
    write_timelines(directory, place, runs)
    return summary
