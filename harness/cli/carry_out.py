"""What run, simulate and emulate have in common: a scenario in, a run directory out."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import click

from emulator.fork_server import DIVIDED_KINDS, NETWORK_KINDS
from emulator.interrupt import stop_on_signals
from emulator.session import Session
from harness.cli.options import default_output
from harness.cli.show import console, print_summary, print_warnings, progress_bars, tell_end
from harness.experiments.run import decide_all, emulate_all, predict_all, scale_of
from harness.experiments.store import finish_run, write_emulated, write_simulated
from harness.experiments.summary import summarise
from traces.errors import RoundelayError
from traces.run_directory import give_to_caller, prepare_directory
from traces.scenario import scenario_of
from traces.yaml_source import YamlSource


def carry_out(
    context: click.Context,
    source: YamlSource,
    output: Path | None,
    as_json: bool,
    *,
    predicts: bool,
    run_id: str | None,
) -> None:
    """Predict and/or emulate every arm; write the directory, whatever happens; print the summary.

    run_id: None where nothing is emulated.
    """
    scenario = scenario_of(source)
    print_warnings(scenario.warnings)
    results = decide_all(scenario)
    scale = None if run_id is None else scale_of(scenario)
    directory = output or default_output(source.file)
    with contextlib.ExitStack() as stack:
        session = None
        if run_id is not None:
            divides = any(arm.resources for arm in scenario.arms)
            kinds = DIVIDED_KINDS if divides else NETWORK_KINDS
            session = stack.enter_context(Session(run_id, limits=divides, kinds=kinds))
        made = prepare_directory(directory)
        both = predicts and run_id is not None
        emulated = directory / "emulated" if both else directory
        logs = emulated / "logs"
        stop = stack.enter_context(
            stop_on_signals(lambda: console.print("stopping after the iterations under way ..."))
        )

        def write(*, interrupted: bool) -> dict[str, Any]:
            """Write all there is; return the summary."""
            if predicts:
                write_simulated(directory / "simulated" if both else directory, scenario, results)
            if run_id is not None and scale is not None:
                write_emulated(emulated, scenario, run_id, scale, results)
            summary = summarise(scenario, scale, results, interrupted=interrupted)
            finish_run(directory, scenario, run_id, scale, results, summary)
            give_to_caller(made)
            return summary

        try:
            with progress_bars() as progress:
                if predicts:
                    predict_all(results, progress, stop.wanted)
                if session is not None and scale is not None:
                    emulate_all(session, results, scale, progress, stop.wanted, logs)
        except BaseException:
            # What was measured before is kept; a second failure must not hide the first.
            try:
                write(interrupted=True)
            except RoundelayError as error:
                console.print(f"the partial results could not be written: {error}")
            _tell_logs(logs)
            raise
        summary = write(interrupted=stop.wanted())
    _tell_logs(logs)
    tell_end(context, directory, summary, print_summary, as_json=as_json)


def _tell_logs(logs: Path) -> None:
    """Where the outputs of the jobs' own commands are, if there are any."""
    if logs.exists():
        console.print(f"what the commands wrote: {logs.resolve()}", soft_wrap=True)
