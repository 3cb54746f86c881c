"""roundelay profile sensitivity."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from emulator.interrupt import stop_on_signals
from harness.cli.options import INTERRUPTED, json_option, quiet_option
from harness.cli.profile_items import loaded_items
from harness.cli.profile_options import (
    Chosen,
    parse_cpus,
    parse_shares,
    profile_directory,
    training_options,
)
from harness.cli.profile_progress import point_progress
from harness.cli.show import console, print_json
from harness.cli.show_sensitivity import print_sensitivity
from harness.report.page import page_of, write_page
from harness.report.profiles.sensitivity_article import sensitivity_article
from harness.report.profiles.sensitivity_document import sensitivity_document
from profiler.limits.usable import usable_cpus
from profiler.measuring.sensitivity import (
    LOG,
    STATE_DIRECTORY,
    SensitivityPlan,
    profile_sensitivity,
    write_sensitivity,
)
from profiler.measuring.training import MADE_DIRECTORY
from profiler.measuring.training_process import StoppedError
from profiler.sensitivity.profile_files import ITERATIONS_FILE, POINTS_FILE, PROFILE
from traces.run_directory import give_to_caller, prepare_directory

_MOST_CHECKS = 1000
_OWN = {
    STATE_DIRECTORY, LOG, MADE_DIRECTORY, "report.html", PROFILE, POINTS_FILE, ITERATIONS_FILE,
}  # fmt: skip
_STOPPING = "stopping; what was measured is kept ..."


@click.command()
@training_options
@click.option(
    "--cpus",
    metavar="1..24/1",
    help="Numbers of CPUs: the fewest, the most, and the step. Default: every whole number of them "
    "that this machine has.",
)
@click.option(
    "--memory",
    metavar="0%,50%,100%",
    help="Sizes of the cache, as shares of the dataset. Default: quarters of it, as far as memory "
    "goes.",
)
@click.option("--full", "is_full", is_flag=True, help="Measure the whole grid, and model nothing.")
@click.option(
    "--check",
    "checks",
    metavar="K",
    type=click.IntRange(1, _MOST_CHECKS),
    help="Measure K random points of the grid, too, and say how far the model is off there.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of --check's points."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Directory for the results; one that a profiling of the same training was stopped in goes "
    "on. Default: profiles/MODEL-TIME.",
)
@quiet_option
@json_option
@click.pass_context
def sensitivity(
    context: click.Context,
    chosen: Chosen,
    cpus: str | None,
    memory: str | None,
    is_full: bool,
    checks: int | None,
    seed: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure how fast a model trains with how many CPUs and how much memory for its cache.

    It trains for real: a built-in model, or the COMMAND after --. Measured is along CPUs with all
    of the cache, where it tells most; less memory is modelled from the speed of storage (Synergy).

    \b
    Example:
      roundelay profile sensitivity --model resnet18 --tiny --device cpu
      roundelay profile sensitivity --model resnet50 --data imagenet/train --check 8
      roundelay profile sensitivity -- python train.py --epochs 1000
    """
    axis, shares = parse_cpus(cpus, usable_cpus()), parse_shares(memory)
    directory = output or profile_directory(chosen.model)
    made = directory if _is_unfinished(directory) else prepare_directory(directory)
    training = chosen.training(directory)
    plan = SensitivityPlan(
        training, chosen.model, axis, chosen.patience, shares, is_full, checks or 0, seed
    )
    try:
        items = loaded_items(training)
        with stop_on_signals(lambda: console.print(_STOPPING)) as stop, point_progress() as show:
            result, state = profile_sensitivity(plan, items, directory, show, stop.wanted)
        write_sensitivity(directory, result, state)
        if not result.found.is_interrupted:
            shutil.rmtree(directory / MADE_DIRECTORY, ignore_errors=True)
        page = page_of({"profile": sensitivity_article(chosen.model, result, "profile")})
        write_page(page, directory / "report.html")
    except StoppedError:
        console.print("stopped before anything was measured", style="yellow")
        context.exit(INTERRUPTED)
    finally:
        give_to_caller(made)
    if as_json:
        print_json(sensitivity_document(result) | {"directory": str(directory.resolve())})
    print_sensitivity(chosen.model, result)
    console.print(f"profile: {directory.resolve()}", soft_wrap=True, markup=False)
    if result.found.is_interrupted:
        again = f"the same command with -o {directory} goes on"
        console.print(f"stopped; {again}", style="yellow", soft_wrap=True, markup=False)
        context.exit(INTERRUPTED)


def _is_unfinished(directory: Path) -> bool:
    """Whether an earlier profiling may go on there: it holds nothing else."""
    names = {entry.name for entry in directory.iterdir()} if directory.is_dir() else set()
    return bool(names) and names <= _OWN
