"""What a person sees of a sweep: how far it is, and its main figure by what is varied."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from harness.cli.options import is_quiet
from harness.cli.show import console, plain_table
from harness.cli.show_reproduced import duration
from harness.experiments.sweep.figures import ITERATIONS_FIGURE, ROUNDS_FIGURE

_LINES_APART_S = 10.0  # of progress, on a console that is no terminal
_MOST_ROWS = 60
_MOST_FAILURES = 10
_FIGURES = {
    ROUNDS_FIGURE: (1 / 3600, "mean job completion time in h"),
    ITERATIONS_FIGURE: (1e3, "mean iteration time in ms"),
}

Tell = Callable[[int], None]


@contextlib.contextmanager
def points_done(total: int) -> Iterator[Tell]:
    """Takes how many of ``total`` points have failed, each time that another is over.

    A bar with the time that is left; on a console that is no terminal, a line now and then; with
    --quiet nothing.
    """
    if is_quiet() or not total:
        yield lambda _: None
    elif console.is_terminal:
        with _bar() as bar:
            task = bar.add_task("points", total=total)
            yield lambda failed: bar.update(
                task, advance=1, description=f"points, {failed} failed" if failed else "points"
            )
    else:
        yield _lines(total)


def _bar() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console)


def _lines(total: int) -> Tell:
    began_s = told_s = time.monotonic()
    done = 0

    def tell(failed: int) -> None:
        nonlocal done, told_s
        done += 1
        now_s = time.monotonic()
        if now_s - told_s < _LINES_APART_S:
            return
        told_s = now_s
        left_s = (now_s - began_s) / done * (total - done)
        failures = f", {failed} failed" if failed else ""
        console.print(f"{done} of {total} points{failures}, about {duration(left_s)} left")

    return tell


def print_sweep(summary: Mapping[str, Any], directory: Path) -> None:
    """One row a combination of values and arm; then failures, and where all of it is."""
    results = summary["results_by_values"]
    if results:
        _print_table(summary, results)
    points = summary["points"]
    console.print(
        f"{points['finished']} of {points['wanted']} points finished"
        + (f", {points['finished_before']} of them before" if points["finished_before"] else "")
        + (f", {points['failed']} failed" if points["failed"] else "")
    )
    for failure in summary["failed"][:_MOST_FAILURES]:
        values = ", ".join(f"{key} {value}" for key, value in failure["values"].items())
        console.print(
            f"failed: {values}, seed {failure['seed']}: {failure['reason']} ({failure['file']})",
            style="yellow",
            markup=False,
            soft_wrap=True,
        )
    if len(summary["failed"]) > _MOST_FAILURES:
        more = len(summary["failed"]) - _MOST_FAILURES
        console.print(f"... and {more} more, see summary.json", style="yellow")
    if summary["interrupted"]:
        console.print("Stopped; say the same again to go on from here.", style="yellow")
    console.print(f"results: {directory.resolve() / 'points'}", soft_wrap=True, markup=False)


def _print_table(summary: Mapping[str, Any], results: list[dict[str, Any]]) -> None:
    factor, words = _FIGURES[summary["figure"]]
    title = f"{summary['scenario']}: {words}, {summary['results']}"
    table = plain_table(escape(title))
    for key in summary["keys"]:
        table.add_column(escape(key), overflow="fold")
    table.add_column("arm", no_wrap=True)
    for heading in ("mean", "95 %", "seeds"):
        table.add_column(heading, justify="right", no_wrap=True)
    emulated = summary["results"] == "emulated"
    if emulated:
        table.add_column("verdicts")
    for result in results[:_MOST_ROWS]:
        interval = result["interval"]
        table.add_row(
            *(escape(_text(value)) for value in result["values"].values()),
            escape(result["arm"]),
            "-" if interval is None else _number(interval["value"] * factor),
            _bounds(interval, factor),
            str(interval["seeds"] if interval else 0),
            *([_verdicts(result["verdicts"])] if emulated else []),
        )
    console.print(table)
    if len(results) > _MOST_ROWS:
        console.print(f"... and {len(results) - _MOST_ROWS} more rows, see summary.json")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _bounds(interval: Mapping[str, Any] | None, factor: float) -> str:
    if interval is None or interval["low"] is None:
        return ""
    return f"{_number(interval['low'] * factor)} to {_number(interval['high'] * factor)}"


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"


def _verdicts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
