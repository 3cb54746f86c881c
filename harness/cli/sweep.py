"""roundelay sweep."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from emulator.interrupt import stop_on_signals
from harness.cli.options import (
    INTERRUPTED,
    default_output,
    json_option,
    quiet_option,
    scenario_argument,
)
from harness.cli.show import console, print_json, print_warnings
from harness.cli.show_sweep import points_done, print_sweep
from harness.experiments.reproduce.workers import usable_cores
from harness.experiments.sweep.dataset import SweepDirectory, open_sweep
from harness.experiments.sweep.local import run_in_turn, run_on_cores
from harness.experiments.sweep.plan import SweepPlan, plan_sweep
from harness.experiments.sweep.points import parse_variation
from harness.experiments.sweep.run_point import attempt
from harness.experiments.sweep.summary import columns_of, summarise
from harness.experiments.sweep.work import Outcome, Point, Stop
from traces.scenario_file import ScenarioFile

_Run = Callable[[Sequence[Point], Stop], Generator[Outcome, None, None]]


@click.command()
@scenario_argument
@click.option(
    "--vary",
    "varied",
    metavar="KEY=VALUES",
    multiple=True,
    required=True,
    help="A key of the scenario and its values: a,b,c, or FIRST..LAST:COUNT, which has both ends "
    "and may have a unit before the colon. Given several times, all combinations.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    help="How many seeds each combination gets. Default: as many as the scenario says.",
)
@click.option("--emulate", "emulated", is_flag=True, help="Emulate the points. Needs root.")
@click.option(
    "--ray",
    "address",
    metavar="ADDRESS",
    help="Run on the nodes of this Ray cluster, which see the scenario's files at the same place.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Directory for the results; points of the same sweep that it has are not run again. "
    "Default: runs/SCENARIO-TIME.",
)
@quiet_option
@json_option
@click.pass_context
def sweep(
    context: click.Context,
    scenario_file: Path,
    varied: tuple[str, ...],
    seeds: int | None,
    emulated: bool,
    address: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Run SCENARIO with all combinations of values, into one Parquet dataset.

    Points are simulated, on all cores of this machine or on a Ray cluster. Emulated ones have a box
    to themselves, one at a time. DIRECTORY/points has a row for each combination, seed and arm:
    pandas.read_parquet() reads it as one table. A point that fails does not stop the others; the
    exit code is then 1. After Ctrl-C or a kill, the same command goes on from there.

    \b
    Example:
      roundelay sweep examples/synergy-load.yaml --vary scheduler.policy=fifo,srtf
        --vary workload.generate.load=0.5..1.0:6 --seeds 10 -o runs/loads
      roundelay sweep examples/two-vgg19.yaml --vary 'cluster.rate=10..50 Gbit/s:5'
    """
    source = ScenarioFile.read(scenario_file)
    plan = plan_sweep(source, [parse_variation(text) for text in varied], seeds, emulated=emulated)
    print_warnings(plan.warnings)
    directory = output or default_output(scenario_file)
    with contextlib.ExitStack() as stack:
        run = stack.enter_context(_where(address, emulated=emulated))
        kept = stack.enter_context(open_sweep(directory, plan, source.text))
        # After Ray, which takes a signal for itself.
        stop = stack.enter_context(
            stop_on_signals(lambda: console.print("stopping after the points under way ..."))
        )
        summary = _carry_out(plan, kept, run, stop.wanted)
    if as_json:
        print_json(summary)
    print_sweep(summary, directory)
    if summary["interrupted"]:
        context.exit(INTERRUPTED)
    if summary["failed"]:
        context.exit(1)


@contextlib.contextmanager
def _where(address: str | None, *, emulated: bool) -> Iterator[_Run]:
    """What runs the points of a sweep. Raises MissingCapabilityError where it cannot."""
    if address is not None:
        from harness.experiments.sweep.ray_cluster import ray_cluster

        with ray_cluster(address) as cluster:
            yield lambda points, stop: cluster.run(points, attempt, stop, one_per_node=emulated)
    elif emulated:
        from emulator.session import require_privileges

        require_privileges()
        yield lambda points, stop: run_in_turn(points, attempt, stop)
    else:
        yield lambda points, stop: run_on_cores(points, attempt, stop, usable_cores())


def _carry_out(plan: SweepPlan, kept: SweepDirectory, run: _Run, stop: Stop) -> dict[str, Any]:
    """Run the points that are not finished; the summary of all."""
    before = kept.finished()
    wanted = [point for point in plan.points if point.id not in before]
    failures: dict[str, str] = {}
    with points_done(len(wanted)) as tell, contextlib.closing(run(wanted, stop)) as outcomes:
        for outcome in outcomes:
            kept.keep(outcome)
            if outcome.failure is not None:
                failures[outcome.point.id] = outcome.failure.reason
            if outcome.failure is not None or outcome.table is not None:
                tell(len(failures))
    there = kept.finished()
    finished = [point.id for point in plan.points if point.id in there]
    summary = summarise(
        plan,
        kept.read(finished, columns_of(plan)),
        failures,
        finished_before=len(plan.points) - len(wanted),
        interrupted=stop() and len(finished) + len(failures) < len(plan.points),
    )
    kept.write_summary(summary)
    return summary
