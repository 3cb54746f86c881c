"""roundelay profile stalls."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from emulator.interrupt import stop_on_signals
from harness.cli.options import INTERRUPTED, json_option, quiet_option
from harness.cli.profile_items import loaded_items
from harness.cli.profile_options import Chosen, parse_cpus, profile_directory, training_options
from harness.cli.profile_progress import point_progress
from harness.cli.show import console, print_json, print_warnings
from harness.cli.show_words import plain, print_words, say
from harness.report.page import page_of, write_page
from harness.report.profiles import stall_tables as tables
from harness.report.profiles.stall_article import stall_article
from harness.report.profiles.stall_document import stall_document
from harness.report.profiles.stall_sentences import outcome
from profiler.limits.usable import usable_cpus
from profiler.measuring.stalls import StallResult, profile_stalls
from profiler.measuring.training import MADE_DIRECTORY
from profiler.measuring.training_process import StoppedError
from traces.run_directory import give_to_caller, prepare_directory, write_json


@click.command()
@training_options
@click.option("--cpus", metavar="N", help="CPUs of the training. Default: all of this machine.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Directory for the results, new or empty. Default: profiles/MODEL-TIME.",
)
@quiet_option
@json_option
@click.pass_context
def stalls(
    context: click.Context, chosen: Chosen, cpus: str | None, output: Path | None, as_json: bool
) -> None:
    """Say which stage limits a training: the device, CPUs that prepare samples, or storage.

    It trains for real, three times: with one batch over and over, with the dataset cached, and with
    nothing cached (DS-Analyzer). And it says what more CPUs, cache or storage would give.

    \b
    Example:
      roundelay profile stalls --model resnet18 --tiny --device cpu
      roundelay profile stalls --cpus 4 -- python train.py --epochs 1000
    """
    usable = usable_cpus()
    count = parse_cpus(cpus or f"{usable:g}", usable)[-1]
    directory = output or profile_directory(f"{chosen.model}-stalls")
    made = prepare_directory(directory)
    training = chosen.training(directory)
    try:
        items = loaded_items(training)
        with (
            stop_on_signals(lambda: console.print("stopping ...")) as stop,
            point_progress() as show,
        ):
            result = profile_stalls(
                training, chosen.model, count, items, chosen.patience, directory, show, stop.wanted
            )
        write_json(directory / "stalls.json", stall_document(result))
        shutil.rmtree(directory / MADE_DIRECTORY, ignore_errors=True)
        page = page_of({"stalls": stall_article(result, "stalls")})
        write_page(page, directory / "report.html")
    except StoppedError:
        console.print("stopped before all was measured", style="yellow")
        context.exit(INTERRUPTED)
    finally:
        give_to_caller(made)
    if as_json:
        print_json(stall_document(result) | {"directory": str(directory.resolve())})
    _print(result)
    console.print(f"profile: {directory.resolve()}", soft_wrap=True, markup=False)


def _print(result: StallResult) -> None:
    for words in (tables.runs(result), tables.rates(result), tables.changes(result)):
        print_words(words)
    say(outcome(result))
    print_warnings(plain(note) for note in result.notes)
