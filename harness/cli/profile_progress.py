"""Shows which point is measured, how many there are, and how long they may take."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.cli.options import is_quiet
from harness.cli.show import console
from profiler.measuring.point_log import Show
from traces.quantities import format_duration


@contextlib.contextmanager
def point_progress() -> Iterator[Show]:
    """A bar of points; on a console that is no terminal a line each; with --quiet nothing."""
    if is_quiet():
        yield lambda *_: None
        return
    if not console.is_terminal:
        yield _say
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("starting the training", total=None, left="")

        def show(what: str, done: int, total: int, left_s: float) -> None:
            bars.update(task, description=what, completed=done, total=total, left=_left(left_s))

        yield show


def _say(what: str, done: int, total: int, left_s: float) -> None:
    left = _left(left_s)
    console.print(f"point {done + 1} of up to {total}: {what}{', ' if left else ''}{left} ...")


def _left(left_s: float) -> str:
    """Nothing before anything is known of how long a point takes."""
    return f"up to {format_duration(max(round(left_s), 1))} left" if left_s else ""
