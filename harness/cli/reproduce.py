"""roundelay reproduce."""

from __future__ import annotations

import contextlib
import datetime
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.cli.options import INTERRUPTED, is_quiet, json_option, quiet_option
from harness.cli.show import console, print_json
from harness.cli.show_reproduced import duration, print_figures, print_recipes
from harness.experiments.reproduce.data_files import CONTENTS
from harness.experiments.reproduce.recipe import Recipe
from harness.experiments.reproduce.recipes import RECIPES
from harness.experiments.reproduce.store import figures_document, finished, write_reproduction
from traces.errors import BadInputError
from traces.run_directory import give_to_caller, prepare_directory

_LINES_APART_S = 10.0  # of progress, on a console that is no terminal


@click.command()
@click.argument("recipe_id", metavar="[ID]", required=False)
@click.option("--list", "lists", is_flag=True, help="Say which experiments there are.")
@click.option("--all", "takes_all", is_flag=True, help="One after the other; resumed where it was.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("data"),
    show_default=True,
    help=f"Published traces: {CONTENTS}.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    help="Seeds of what is random. Default: the experiment's own number.",
)
@click.option("--quick", is_flag=True, help="In a shorter form; only with an ID that has one.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Directory for the results, new or empty. Default: reproduced/ID-TIME. "
    "With --all, one directory below it for each ID, and those that are finished are kept.",
)
@quiet_option
@json_option
@click.pass_context
def reproduce(
    context: click.Context,
    recipe_id: str | None,
    lists: bool,
    takes_all: bool,
    data: Path,
    seeds: int | None,
    quick: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Make the figures of a published experiment, and put them beside the published ones.

    A figure that is not reached stays in the table, with a note that says why. The directory gets
    figures.json, provenance.json, and drawings as SVG and PNG.

    \b
    Example:
      roundelay reproduce --list
      roundelay reproduce synergy-split -o reproduced/split
      roundelay reproduce synergy-oracle --data shared/data
      sudo roundelay reproduce cassini-snapshot --quick
      roundelay reproduce --all --data shared/data -o reproduced/all
    """
    if (recipe_id is not None) + lists + takes_all != 1:
        raise BadInputError(
            "it is not said, or said twice, what to reproduce",
            allowed=f"one ID ({', '.join(RECIPES)}), or --list, or --all",
        )
    if quick and recipe_id is None:
        raise BadInputError(
            "only one experiment is made quickly", allowed=_quick_ids(), key="--quick"
        )
    if lists:
        if as_json:
            print_json([_described(recipe) for recipe in RECIPES.values()])
        else:
            print_recipes(RECIPES.values())
        return
    with _ends_by_interrupt():
        if takes_all:
            _all(context, output or _default_output("all"), data, seeds, as_json)
        else:
            recipe = _recipe(recipe_id or "")
            _one(context, _in_quick_form(recipe) if quick else recipe, output, data, seeds, as_json)


def _recipe(recipe_id: str) -> Recipe:
    if recipe_id not in RECIPES:
        raise BadInputError(
            f"there is no experiment {recipe_id!r}", allowed=", ".join(RECIPES), key="ID"
        )
    return RECIPES[recipe_id]


def _in_quick_form(recipe: Recipe) -> Recipe:
    """``recipe`` with what its quick form has instead."""
    quick = recipe.quick
    if quick is None:
        raise BadInputError(f"{recipe.id} has no shorter form", allowed=_quick_ids(), key="--quick")
    title = f"{recipe.title}; quick: {quick.less}"
    return replace(recipe, title=title, seconds=quick.seconds, run=quick.run)


def _quick_ids() -> str:
    return ", ".join(recipe.id for recipe in RECIPES.values() if recipe.quick) or "none"


def _described(recipe: Recipe) -> dict[str, Any]:
    names = ("id", "title", "source", "seconds", "needs_data")
    quick_seconds = recipe.quick.seconds if recipe.quick else None
    return {**{name: getattr(recipe, name) for name in names}, "quick_seconds": quick_seconds}


def _default_output(name: str) -> Path:
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("reproduced") / f"{name}-{stamp}"


def _one(
    context: click.Context,
    recipe: Recipe,
    output: Path | None,
    data: Path,
    seeds: int | None,
    as_json: bool,
) -> None:
    directory = output or _default_output(recipe.id)
    with _new_directory(directory):
        document, interrupted = _make(recipe, directory, data, seeds)
    if as_json:
        print_json(document)
    print_figures(recipe, document, directory)
    if interrupted:
        console.print("Stopped; the figures are those that could be made until then.")
        context.exit(INTERRUPTED)


def _all(
    context: click.Context, directory: Path, data: Path, seeds: int | None, as_json: bool
) -> None:
    """Every recipe in a directory of its own; one that lacks its data does not stop the others."""
    documents: list[dict[str, Any]] = []
    refused = 0
    interrupted = False
    for recipe in RECIPES.values():
        place = directory / recipe.id
        try:
            document = finished(place)
            if document is not None:
                console.print(
                    f"{recipe.id}: finished before, in {place}; remove it to make it again",
                    soft_wrap=True,
                    markup=False,
                )
                documents.append(document)
                continue
            with _directory(place):
                document, interrupted = _make(recipe, place, data, seeds)
        except BadInputError as error:
            console.print(f"{recipe.id}: {error}", style="yellow", soft_wrap=True, markup=False)
            refused += 1
            continue
        except KeyboardInterrupt:
            interrupted = True
            break
        documents.append(document)
        print_figures(recipe, document, place)
        if interrupted:
            break
    if as_json:
        print_json(documents)
    if interrupted:
        console.print(f"Stopped. Say -o {directory} again to go on from here.", soft_wrap=True)
        context.exit(INTERRUPTED)
    if refused:
        context.exit(BadInputError.exit_code)


def _make(
    recipe: Recipe, directory: Path, data: Path, seeds: int | None
) -> tuple[dict[str, Any], bool]:
    """(document of the figures, whether it was interrupted)."""
    if recipe.needs_data and not data.is_dir():
        raise BadInputError(f"there is no directory {data}", allowed=CONTENTS, key="--data")
    began_s = time.monotonic()
    with _progress(recipe) as say:
        reproduction = recipe.run(data, seeds, say)
    wall_s = time.monotonic() - began_s
    write_reproduction(directory, recipe, reproduction, data=data, seeds=seeds, wall_s=wall_s)
    return figures_document(recipe, reproduction), reproduction.interrupted


@contextlib.contextmanager
def _progress(recipe: Recipe) -> Iterator[Callable[[str], None]]:
    """A line that changes; on a console that is no terminal, a line now and then; with --quiet
    nothing."""
    if is_quiet():
        yield lambda _: None
        return
    console.print(f"{recipe.id}: {recipe.title} (about {duration(recipe.seconds)} on two cores)")
    if console.is_terminal:
        with console.status(recipe.id) as status:
            yield lambda text: status.update(f"{recipe.id}: {text}")
        return
    last_s = time.monotonic()

    def say(text: str) -> None:
        nonlocal last_s
        if time.monotonic() - last_s >= _LINES_APART_S:
            last_s = time.monotonic()
            console.print(f"{recipe.id}: {text}", markup=False)

    yield say


@contextlib.contextmanager
def _new_directory(directory: Path) -> Iterator[None]:
    """A new or empty ``directory``, which goes again if nothing comes of it."""
    made = prepare_directory(directory)
    with _given_back(directory, made):
        yield


@contextlib.contextmanager
def _directory(directory: Path) -> Iterator[None]:
    """``directory``, made where it is not there, and gone again if nothing comes of it."""
    if directory.exists() and not directory.is_dir():
        raise BadInputError("is no directory", allowed="a directory", file=directory)
    made = directory
    if not directory.exists():
        made = prepare_directory(directory)
    with _given_back(directory, made):
        yield


@contextlib.contextmanager
def _given_back(directory: Path, made: Path) -> Iterator[None]:
    """``made``, and what is below it down to ``directory``, to the caller, or away if empty."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            while True:
                directory.rmdir()
                if directory == made:
                    break
                directory = directory.parent
        raise
    give_to_caller(made)


@contextlib.contextmanager
def _ends_by_interrupt() -> Iterator[None]:
    """A termination or a hang-up ends the block as Ctrl-C does: what was made is kept."""
    numbers = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    previous = {n: signal.signal(n, signal.default_int_handler) for n in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
